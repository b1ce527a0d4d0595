// Uses the generated SDK. Reads a command as JSON from standard input, and prints the result as JSON.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"

	"sms.example.com/sdks/go"
)

type input struct {
	Command string            `json:"command"`
	Payload string            `json:"payload"`
	Headers map[string]string `json:"headers"`
	Secret  string            `json:"secret"`
}

func main() {
	var given input
	check(json.NewDecoder(os.Stdin).Decode(&given))
	var result any
	if given.Command == "send" {
		result = send()
	} else {
		result = verify(given)
	}
	check(json.NewEncoder(os.Stdout).Encode(result))
}

func send() map[string]any {
	configuration := smsgateway.NewConfiguration()
	configuration.Servers = smsgateway.ServerConfigurations{{URL: os.Getenv("SMS_GATEWAY_URL")}}
	client := smsgateway.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), smsgateway.ContextAccessToken, os.Getenv("SMS_GATEWAY_KEY"))

	request := smsgateway.NewSendSmsRequest("15005550000", "Hello")
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
	_, _, err = client.SmsAPI.SendSms(ctx).SendSmsRequest(*smsgateway.NewSendSmsRequest("nobody", "Hello")).Execute()
	var failed *smsgateway.GenericOpenAPIError
	code := ""
	if errors.As(err, &failed) {
		response, _ := failed.Model().(smsgateway.ErrorResponse)
		code = response.Error.Code
	}
	return map[string]any{
		"id": sent.Data.Id, "repeated": repeated.Data.Id, "text": read.Data.Message, "listed": listed, "code": code,
	}
}

func verify(call input) map[string]any {
	if !isFromGateway(call.Secret, call.Headers["x-service-signature"], []byte(call.Payload)) {
		return map[string]any{"rejected": true}
	}
	var event smsgateway.WebhookPayload
	check(json.Unmarshal([]byte(call.Payload), &event))
	return map[string]any{"event": event.Event, "to": event.Data["to"]}
}

func isFromGateway(secret, signature string, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	given, err := hex.DecodeString(signature)
	return err == nil && hmac.Equal(given, mac.Sum(nil))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
