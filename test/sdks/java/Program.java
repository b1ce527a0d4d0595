import com.example.smsgateway.ApiClient;
import com.example.smsgateway.ApiException;
import com.example.smsgateway.api.SmsApi;
import com.example.smsgateway.model.ErrorResponse;
import com.example.smsgateway.model.Message;
import com.example.smsgateway.model.SendSmsRequest;
import com.example.smsgateway.model.WebhookPayload;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Uses the generated SDK. Reads a command as JSON from standard input, and prints the result as JSON. */
public class Program {
  private static final ObjectMapper mapper = ApiClient.createDefaultObjectMapper();

  public static void main(String[] arguments) throws Exception {
    JsonNode given = mapper.readTree(System.in);
    Object result = given.get("command").asText().equals("send") ? send() : verify(given);
    System.out.println(mapper.writeValueAsString(result));
  }

  private static Object send() throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("SMS_GATEWAY_URL"));
    client.setRequestInterceptor(
        request -> request.header("Authorization", "Bearer " + System.getenv("SMS_GATEWAY_KEY")));
    SmsApi sms = new SmsApi(client);

    SendSmsRequest request = new SendSmsRequest().to("15005550000").message("Hello").senderId("ACME");
    String id = sms.sendSms(request, "order-1").getData().getId();
    String repeated = sms.sendSms(request, "order-1").getData().getId();
    String text = sms.getSms(id).getData().getMessage();
    List<String> listed =
        sms.listSms(null, 100, null, null, null, null).getData().stream().map(Message::getId).toList();
    String code = "";
    try {
      sms.sendSms(new SendSmsRequest().to("nobody").message("Hello"), null);
    } catch (ApiException error) {
      code = mapper.readValue(error.getResponseBody(), ErrorResponse.class).getError().getCode();
    }
    return Map.of("id", id, "repeated", repeated, "text", text, "listed", listed, "code", code);
  }

  private static Object verify(JsonNode call) throws Exception {
    String signature = call.get("headers").path("x-service-signature").asText();
    String body = call.get("payload").asText();
    if (!isFromGateway(call.get("secret").asText(), signature, body.getBytes(StandardCharsets.UTF_8))) {
      return Map.of("rejected", true);
    }
    WebhookPayload event = mapper.readValue(body, WebhookPayload.class);
    return Map.of("event", event.getEvent(), "to", event.getData().get("to"));
  }

  private static boolean isFromGateway(String secret, String signature, byte[] body)
      throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    String expected = HexFormat.of().formatHex(mac.doFinal(body));
    return MessageDigest.isEqual(
        expected.getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
  }
}
