// The words that this project does not write, with their replacements. The checks of pages, comments, strings and exported
// names share this list; `.github/STYLE.md` explains it.

export interface Word {
  pattern: RegExp;
  replacement: string;
}

/** Matches whole words, in any case. A hyphen counts as a part of a word. */
function word(pattern: string, replacement: string): Word {
  return { pattern: new RegExp(String.raw`(?<![\w-])(?:${pattern})(?![\w-])`, "gi"), replacement };
}

const pronoun = "it|them|this|that|these|those|what|each|all|an?|the|its|one|everything";

export const words: readonly Word[] = [
  // Verbs of speech for events.
  word("tells?|told|telling|untold", "notify, report, inform, show or distinguish"),
  word("hears?|heard|hearing", "receive or learn"),
  word("says|said|saying", "returns, reports, states or shows"),
  word("asks? (?:for|of)|asked (?:for|of)|asking (?:for|of)", "request, query or call"),
  word("answers?|answered|answering", "respond, response, return or reply"),
  word("(?<!connection )refuse[sd]?|refusing|refusals?", "reject"),

  // Words for persons whom the text does not name.
  word("nobody", "no one"),
  word("somebody|anybody", "someone, anyone, or the person by name"),
  word("whoever|whomever|whosoever", "the caller, the operator, or anyone who"),
  word("whom", "who, or another sentence"),

  // Old words.
  word("reckon|reckons|reckoned|reckoning", "calculate or count"),
  word("deeds?", "action or event"),
  word("mends?|mended|mending", "fix or repair"),
  word("dear|dearer|dearest", "expensive"),
  word("thereby|thereof|therein|thereupon|whereof|whereupon|whence|hence", "so, or another sentence"),
  word("lest", "so that … not"),
  word("anew", "again"),
  word("amiss", "wrong"),
  word("nought", "zero or nothing"),
  word("upon", "on"),
  word("ought", "should"),
  word("shall", "must or will"),
  word("spelt", "spelled or written"),

  // Phrases that have a plain word.
  word("comes? to (?:its|their|an|the) ends?|came to (?:its|their|an|the) ends?", "end"),
  word("(?:go|goes|went|gone|going) on(?! (?:the|an?|its|sale)\\b)", "continue"),
  word("put(?:s|ting)?(?: \\w+)? off", "reschedule or defer"),
  word(`(?:give|gives|gave|given|giving)(?: (?:${pronoun}))? back`, "release or return"),
  word("(?:hands?|handed|handing)[ -](?:over|out|off|to|on|back|in)", "submit, pass, publish or fan out"),
  word(
    `(?<!\\b(?:by|at|on|in|other|one|second|right|left) )(?:hands?|handed|handing) (?:${pronoun})`,
    "submit, pass, publish or fan out",
  ),
  word(
    "(?:carriers?|endpoints?|receivers?|providers?) (?:takes?|took|(?:has|have) taken|(?:did|does|do|will|may|must) (?:not )?take)(?! (?:time|part|place|effect|long|up|\\d))",
    "accept",
  ),
  word("too dear|too much of|as much as", "the quantity by name"),
  word("so many|so long|once in so long", "the quantity by name"),
  word("(?<!, )but for", "except"),
  word("save for", "except"),
  word("(?:is|are|was|were) no [\\w-]+'s", "a positive statement"),
  word("is not one(?! of)", "a positive statement"),
  word("the like|and such|suchlike", "the things by name"),
  word("(?:makes?|making|made)[ -]up(?! (?:of|for))", "generate, invent or random"),
  word("at once", "immediately, or at the same time"),

  // Words with two meanings.
  word(
    "behind(?! (?:(?:an?|the|its|your|their|one) )?(?:\\w+ )?(?:prox(?:y|ies)|load balancers?|CDN|firewalls?|NAT|CloudFront|API Gateway))",
    "after",
  ),
  word("rings|rang|(?:to|will|would|may|must|not|never) ring", "fires (an alarm)"),
  word("stretch|stretches", "period"),
  word("lasting", "permanent or confirmed"),
  word(
    "(?:forget|forgets|forgetting|forgot|forgotten)(?! (?:(?:your|the|my|a|their) )?password)",
    "expire or delete",
  ),
  word("things?", "the thing by name"),
  word("(?:the|this|our|of) house|house (?:rules?|style|words?|sentences?)", "project"),
  word(
    "(?<!(?:is|no|more|enough|much|has|have|leaves?|makes?|of) )rooms?(?! (?:for|left))",
    "module or folder",
  ),
  word(
    "(?:an?|the|its|their|whose|each|this|another|no|own|wallet's) turns?(?! (?:into|on|off|out))",
    "lock (of a wallet) or result (of a recipient)",
  ),

  // One word for one thing: the glossary's words.
  word("provisional|provisionally", "unconfirmed"),
  word("agendas?", "pending-work index"),
  word("carrier reports?", "carrier callback"),
  word("pace|paces|paced", "rate limit (of a customer) or throughput (of a carrier)"),
  word("allowances?", "spending limits"),

  // American spelling.
  word(
    "\\w*(?:organ|recogn|normal|author|serial|initial|summar|minim|maxim|emphas|categor|custom|final|general|local|optim|priorit|real|standard|synchron|util|visual|special|token|random|item|central|anonym|character|memor|capital)is(?:e|es|ed|er|ers|ing|ation|ations)",
    "-ize, -ization",
  ),
  word("(?:behavi|col|hon|fav|neighb|lab)our(?:s|ed|ite|ites|able)?", "-or"),
  word(
    "dialled|dialling|travelled|modelled|labelled|signalled|cancelling|fulfils?",
    "one l (two in fulfill)",
  ),
  word("whilst|learnt|burnt|judgement|defence|offence|centre|grey|programme", "American spelling"),
];

/** Words that a sentence may have about persons, and that no name in code has. */
export const wordsOfNames: readonly Word[] = [word("asks?|asked|asking", "request, query, call or prompt")];
