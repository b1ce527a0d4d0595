import { invalidField } from "../contract/errors.ts";
import { config } from "../platform/config.ts";

/**
 * Words that lead the lists of leaked passwords, alone or with something in front or behind. Those that are shorter than a
 * password can be stand here for what is made of them.
 */
const commonWords: ReadonlySet<string> = new Set(
  `
  abc abcd abcdef access account admin administrator adidas alexander amanda america andrea andrew angel angels animal
  anthony apple april arsenal asdf asdfasdf asdfgh asdfghjk ashley asshole august austin azerty babygirl bailey banana
  barcelona baseball basketball batman beautiful benjamin bigdaddy biteme blessed blink bond brandon bubbles business
  butterfly buster california carolina caroline changeme changeit charles charlie cheese chelsea chester chicken chocolate
  christian christina christine christmas christopher company computer cookie corvette courtney creative cristina
  dallas daniel danielle database december default demo diamond dolphin dolphins dragon eagles einstein elephant elizabeth
  email eminem estrella evangelion explorer facebook falcon family february ferrari fishing flower flowers football forever
  formula freedom friend friends friendship fuckoff fuckyou gabriel garfield gateway genesis george gfhjkm gibson ginger
  godzilla golden goodluck google guest guitar hahaha hannah happiness harley heather hello helloworld hockey hollywood
  homework hotmail hunter hunting iceman iloveu iloveyou imissyou infinity internet isabella jackson jasmine jasper jennifer
  jessica jesus jordan joseph joshua justice justin katherine killer kimberly kitten knight lakers lauren leonardo letmein
  letmeinnow liberty linkedin liverpool login logitech london loveme lovely lover lovers loveyou lucky madison maggie
  magic manchester manager marina marlboro marseille martin master matrix matthew maverick maxwell melissa mercedes
  merlin metallica michael michelle microsoft midnight minecraft mickey monday monica monkey monster morgan mother motorola
  mountain mustang myspace naruto natasha newpass newpassword newyork nicholas nicole nintendo nirvana nothing november
  october office oliver olivia orange packers pakistan paradise parola pass passpass passw passwd password passwords
  passwort patricia patrick peanut pepper phoenix pikachu player playstation please pokemon porsche portugal poohbear
  precious prince princess princesa private property purple q1w2e3 qazwsx qazxsw qwe qweasd qweasdzxc qwer qwert qwerty
  qwertyui qwertz rachel rainbow ranger realmadrid rebecca richard robert rockstar ronaldo root samantha samsung sandra
  sarah scooter scorpion secret secure security september server service shadow shannon sharks shopping silver simpsons
  skywalker slipknot snickers snoopy soccer softball sophie southern spider spiderman spring sterling stephanie steven
  strawberry student success summer sunday sunflower sunshine superman superstar support sweetheart sweetie sydney
  system tequila teresa test tester testing testtest thailand thomas thunder tiffany tigger tinkerbell trustno
  undertaker university user username vanessa vfhbyf victoria victory vincent volleyball warcraft warrior webmaster
  welcome whatever william windows winner winter wizard wolverine yamaha yankees yellow zaq zaqwsx zaqxsw zxcv zxcvbn
  zxcvbnm sms gateway smsgateway
  `
    .trim()
    .split(/\s+/),
);

/** Characters as they follow each other on a keyboard, in the alphabet and in counting. */
const sequences: readonly string[] = [
  "abcdefghijklmnopqrstuvwxyz",
  "01234567890123456789",
  "qwertyuiop[]",
  "qwertzuiop",
  "azertyuiop",
  "asdfghjkl;'",
  "zxcvbnm,./",
  "qwertyuiopasdfghjklzxcvbnm",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/",
  "qazwsxedcrfvtgbyhnujmikolp",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "!@#$%^&*()",
].flatMap((sequence) => [sequence, reversed(sequence)]);

/** What stands for which letter when somebody makes a word look like a password. */
const lookalikes: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** How many digits and signs around a word are taken for decoration. */
const maxDecoration = 8;

/**
 * Whether a password is one of the first that somebody would try who guesses: a common word, also with digits and signs
 * around it or in place of letters, neighbours on the keyboard, a short piece again and again, or the account's own email.
 */
export function isCommonPassword(password: string, email: string): boolean {
  const plain = password.toLowerCase();
  if (/^(.{1,4})\1+$/s.test(plain) || sequences.some((sequence) => sequence.includes(plain))) return true;
  const [mailbox = "", domain = ""] = email.toLowerCase().split("@");
  const own = new Set([email.toLowerCase(), mailbox, undecorated(mailbox), domain, domain.split(".")[0]]);
  const forms = [plain, undecorated(plain)];
  return [...forms, ...forms.map(spelledOut)].some((form) => commonWords.has(form) || own.has(form));
}

/**
 * Refuses a new password that is easy to guess, where the stage wants that.
 * @param field of the request that it came in
 * @throws ApiError VALIDATION_ERROR
 */
export function requireUncommonPassword(password: string, email: string, field = "password"): void {
  if (config.uncommonPasswordsOnly() && isCommonPassword(password, email)) {
    throw invalidField(field, "is too easy to guess: it is a common one, or follows from the email");
  }
}

/** A word without the digits and signs around it; where nothing much would stay of a text, the whole. */
function undecorated(text: string): string {
  const word = text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  return text.length - word.length > maxDecoration ? text : word;
}

function spelledOut(text: string): string {
  return text.replaceAll(/[013457@$!]/g, (character) => lookalikes[character] ?? character);
}

function reversed(text: string): string {
  return text.split("").toReversed().join("");
}
