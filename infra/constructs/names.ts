/** The name of a row as the id of a construct: `sendSms` is `SendSms`. */
export function pascalCase(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The name of a row as the name of a file: `sendSms` is `send-sms`. */
export function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
