module customer

go 1.23

require sms.example.com/sdks/go v0.0.0
