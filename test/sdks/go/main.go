// Uses the client that openapi-generator makes. Reads events, and prints the result as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	openapi "openapi"
)

func main() {
	check(json.NewEncoder(os.Stdout).Encode(send()))
}

func send() map[string]any {
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: os.Getenv("SMS_GATEWAY_URL")}}
	client := openapi.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, os.Getenv("SMS_GATEWAY_KEY"))

	request := openapi.NewSendSmsRequest("15005550000", "Hello")
	request.SetSenderId("ACME")
	sent, _, err := client.SmsAPI.SendSms(ctx).SendSmsRequest(*request).IdempotencyKey("order-1").Execute()
	check(err)
	repeated, _, err := client.SmsAPI.SendSms(ctx).SendSmsRequest(*request).IdempotencyKey("order-1").Execute()
	check(err)
	read, _, err := client.SmsAPI.GetSms(ctx, sent.Data.Id).Execute()
	check(err)
	page, _, err := client.SmsAPI.ListSms(ctx).Limit(100).Execute()
	check(err)
	listed := []string{}
	for _, message := range page.Data {
		listed = append(listed, message.Id)
	}
	_, _, err = client.SmsAPI.SendSms(ctx).SendSmsRequest(*openapi.NewSendSmsRequest("nobody", "Hello")).Execute()
	var failed *openapi.GenericOpenAPIError
	code := ""
	if errors.As(err, &failed) {
		response, _ := failed.Model().(openapi.ErrorResponse)
		code = response.Error.GetCode()
	}
	var events []openapi.WebhookPayload
	check(json.NewDecoder(os.Stdin).Decode(&events))
	return map[string]any{
		"id": sent.Data.Id, "repeated": repeated.Data.Id, "text": read.Data.Message, "listed": listed, "code": code,
		"events": events,
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
