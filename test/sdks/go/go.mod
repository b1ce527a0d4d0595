module customer

go 1.23

require openapi v0.0.0
