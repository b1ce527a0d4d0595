import { BrandLinks, BrandName } from "../parts/brand.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Form, TextField } from "../parts/form.tsx";
import { LoginFields, logIn, useLoginForm } from "../parts/login-fields.tsx";
import { Page } from "../parts/page.tsx";

export function Login() {
  const login = useLoginForm("", logIn);
  const { form } = login;
  return (
    <Page title="Log in" lead={<BrandName />}>
      <Form form={form} action="Log in">
        <TextField field={form.field("email")} label="Email" type="email" autocomplete="username" hasFocus />
        <LoginFields {...login} />
      </Form>
      <p>
        <a href="#/forgot-password">Forgot your password?</a>
      </p>
      <p>
        No account yet? <a href="#/sign-up">Sign up</a>
      </p>
      <p class="muted">
        <DocsLink>Documentation</DocsLink>
      </p>
      <BrandLinks />
    </Page>
  );
}
