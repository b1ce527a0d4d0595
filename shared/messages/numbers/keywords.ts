import type { Keyword } from "../../api/contract/inbound.ts";

// The messages that are commands, in many languages. Words with other uses, such as YES, are not among them.

const words: Readonly<Record<Keyword, string>> = {
  stop: `stop, stop all, stopall, unsubscribe, end, quit, cancel, revoke, opt out, optout, remove, td, stopp, stoppen,
    stoppa, avmeld, avsluta, afmeld, afmelden, abmelden, abbestellen, arret, arreter, desabonner, desinscrire, baja, alto, parar, pare, sair,
    cancelar, desuscribir, basta, annulla, disiscrivi, lopeta, dur, iptal, ret, berhenti, стоп, отписаться, στοπ, 停止, 退订,
    退訂, 取消, 配信停止, ストップ, 중지, 정지, 수신거부, توقف, إيقاف, أوقف, إلغاء, עצור, הסר, रोकें, बंद`,
  start: `start, unstop, resume, subscribe, opt in, optin, starten, anmelden, aanmelden, demarrer, reprendre, abonner, alta,
    iniciar, comenzar, comecar, iniziare, aloita, basla, mulai, старт, εναρξη, 开始, 開始, 再開, 시작, ابدأ, התחל, शुरू`,
  help: `help, info, aide, ayuda, ajuda, aiuto, hilfe, hulp, hjalp, hjelp, hjaelp, apua, pomoc, yardim, bantuan, помощь,
    βοηθεια, 帮助, 幫助, ヘルプ, 도움말, مساعدة, עזרה, मदद`,
};

const keywordOfWord = new Map(
  (["stop", "start", "help"] as const).flatMap((keyword) =>
    words[keyword].split(",").map((word): [string, Keyword] => [plain(word), keyword]),
  ),
);

/** Returns the command in a whole message, whatever its case, accents and punctuation; undefined when it is none. */
export function keywordOf(text: string): Keyword | undefined {
  return keywordOfWord.get(plain(text));
}

/** Returns a text as words of letters and digits in capital letters, separated by single spaces. */
export function plain(text: string): string {
  return (
    text
      .replace(/\[\d+ pictures?, not received\]$/, "")
      .normalize("NFKD")
      // Keyboards of some scripts insert marks that no one sees into a word.
      .replaceAll(/[\p{M}\p{Cf}]/gu, "")
      .toUpperCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
      .trim()
  );
}
