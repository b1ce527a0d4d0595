import { api } from "../api.ts";
import { Form, PasswordField, TextField, useForm } from "../parts/form.tsx";
import { logIn } from "../parts/login-fields.tsx";
import { Page } from "../parts/page.tsx";
import { given } from "../typed.ts";

export function SignUp() {
  const form = useForm({ email: "", password: "", organizationName: "" }, async (values) => {
    const { email, password, organizationName } = values;
    const body = { email: email.trim(), password, organizationName: given(organizationName) };
    await api().register({ body });
    await logIn({ email, password, code: "" });
  });
  return (
    <Page title="Sign up" lead="Create an account. Messages are prepaid from your wallet.">
      <Form form={form} action="Sign up">
        <TextField field={form.field("email")} label="Email" type="email" autocomplete="username" hasFocus />
        <PasswordField field={form.field("password")} label="Password" isNew />
        <TextField
          field={form.field("organizationName")}
          label="Organization (optional)"
          autocomplete="organization"
          hint="Leave empty to use your email."
        />
      </Form>
      <p>
        Already have an account? <a href="#/">Log in</a>
      </p>
    </Page>
  );
}
