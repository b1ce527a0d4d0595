<?php

// Uses the generated SDK. Reads a command as JSON from standard input, and prints the result as JSON.

declare(strict_types=1);

use SmsGateway\Api\SmsApi;
use SmsGateway\ApiException;
use SmsGateway\Configuration;
use SmsGateway\Model\ErrorResponse;
use SmsGateway\Model\SendSmsRequest;
use SmsGateway\Model\WebhookPayload;
use SmsGateway\ObjectSerializer;

require getenv('AUTOLOAD') ?: 'vendor/autoload.php';

$given = json_decode(stream_get_contents(STDIN), true, flags: JSON_THROW_ON_ERROR);
echo json_encode($given['command'] === 'send' ? send() : verify($given), JSON_THROW_ON_ERROR);

function send(): array
{
    $configuration = (new Configuration())
        ->setHost(getenv('SMS_GATEWAY_URL'))
        ->setAccessToken(getenv('SMS_GATEWAY_KEY'));
    $sms = new SmsApi(config: $configuration);

    $request = new SendSmsRequest(['to' => '15005550000', 'message' => 'Hello', 'sender_id' => 'ACME']);
    $id = $sms->sendSms($request, 'order-1')->getData()->getId();
    $repeated = $sms->sendSms($request, 'order-1')->getData()->getId();
    $text = $sms->getSms($id)->getData()->getMessage();
    $listed = array_map(fn ($message) => $message->getId(), $sms->listSms(limit: 100)->getData());
    $code = '';
    try {
        $sms->sendSms(new SendSmsRequest(['to' => 'nobody', 'message' => 'Hello']));
    } catch (ApiException $error) {
        $body = json_decode($error->getResponseBody());
        $code = ObjectSerializer::deserialize($body, ErrorResponse::class)->getError()->getCode();
    }
    return ['id' => $id, 'repeated' => $repeated, 'text' => $text, 'listed' => $listed, 'code' => $code];
}

function verify(array $call): array
{
    if (!is_from_gateway($call['secret'], $call['headers']['x-service-signature'] ?? '', $call['payload'])) {
        return ['rejected' => true];
    }
    $event = ObjectSerializer::deserialize(json_decode($call['payload']), WebhookPayload::class);
    return ['event' => $event->getEvent(), 'to' => $event->getData()['to']];
}

function is_from_gateway(string $secret, string $signature, string $body): bool
{
    return hash_equals(hash_hmac('sha256', $body, $secret), $signature);
}
