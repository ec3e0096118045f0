// Tells the encoding of bytes that are not UTF-8 by what stands in their words: letters of one language, and no signs between them.

/** The encodings that are read, as they are chosen. Those of one row give the same text to most files. */
export const ENCODINGS = [
  ...['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-15', 'windows-1250', 'iso-8859-2'],
  ...[
    'windows-1251',
    'koi8-r',
    'koi8-u',
    'cp866',
    'windows-1253',
    'iso-8859-7',
    'windows-1254',
    'iso-8859-9',
  ],
  ...['windows-1255', 'windows-1256', 'windows-1257', 'cp850', 'cp852', 'cp437', 'shift_jis', 'gb18030'],
] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The letters beside a to z of languages, in lower case, the most frequent ones of other scripts first. */
const LETTERS = {
  german: 'äöüß',
  french: 'éèàêçùâîôûëïœæüöä',
  italian: 'àèéìòù',
  spanish: 'áéíóúñüºª',
  portuguese: 'ãçáéíóúâêôõàü',
  nordic: 'åäöæøé',
  icelandic: 'áéíóúýþæöð',
  polish: 'ąćęłńóśźż',
  czech: 'áčďéěíňóřšťúůýžľĺŕôä',
  hungarian: 'áéíóöőúüű',
  romanian: 'ăâîşţșț',
  croatian: 'čćđšž',
  turkish: 'çğıöşüâîİ',
  lithuanian: 'ąčęėįšųūž',
  latvian: 'āčēģīķļņšūž',
  estonian: 'äõöüšž',
  russian: 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё',
  ukrainian: 'оаинтівреслкумдпьзягбчйхцїжюєшщфґ',
  greek: 'αοιετνσηυρπκμλςάίόέήώύωθδχγφβξψζϊϋΐΰ',
  hebrew: 'יוהלאתמרבנשםדקחעפכטזגצסךןףץ',
  arabic: 'المنيوتربةدعسفهكقحجشصطخىءآأؤإئثذزضظغ',
} as const;
const WESTERN = ['german', 'french', 'italian', 'spanish', 'portuguese', 'nordic', 'icelandic'] as const;
const EASTERN = ['polish', 'czech', 'hungarian', 'romanian', 'croatian', 'german'] as const;
type Language = keyof typeof LETTERS;

/** Single-byte encodings with their languages. The first of several with the same score is taken. */
const CANDIDATES: readonly (readonly [Encoding, readonly Language[]])[] = [
  ['windows-1252', WESTERN],
  ['iso-8859-15', WESTERN],
  ['windows-1250', EASTERN],
  ['iso-8859-2', EASTERN],
  ['windows-1254', ['turkish']],
  ['iso-8859-9', ['turkish']],
  ['windows-1257', ['lithuanian', 'latvian', 'estonian']],
  ['windows-1251', ['russian', 'ukrainian']],
  ['koi8-r', ['russian']],
  ['koi8-u', ['ukrainian']],
  ['cp866', ['russian']],
  ['windows-1253', ['greek']],
  ['iso-8859-7', ['greek']],
  ['windows-1255', ['hebrew']],
  ['windows-1256', ['arabic']],
  ['cp850', WESTERN],
  ['cp852', EASTERN],
  ['cp437', WESTERN],
];
/** What speaks for a language: the money and the accounts of its countries, and names of columns without its letters. */
const SPOKEN: readonly (readonly [RegExp, readonly Language[]])[] = [
  [/\bPLN\b|\bPL\d{20}|Kwota|Data operacji/, ['polish']],
  [/\bCZK\b|\b(?:CZ|SK)\d{15}/, ['czech']],
  [/\bHUF\b|\bHU\d{15}/, ['hungarian']],
  [/\bRON\b|\bRO\d\d[A-Z]{4}/, ['romanian']],
  [/\b(?:HR|SI)\d{15}|\bHRK\b/, ['croatian']],
  [/\bTRY\b|\bTL\b|\bTR\d{20}/, ['turkish']],
  [/\bISK\b|\bIS\d{20}/, ['icelandic']],
  [/\b(?:DKK|SEK|NOK)\b|\b(?:DK|SE|NO|FI)\d{13}|Belopp|Bel\wb/, ['nordic']],
  [/\bLT\d{15}/, ['lithuanian']],
  [/\bLV\d\d[A-Z]{4}/, ['latvian']],
  [/\bEE\d{15}/, ['estonian']],
  [/\b(?:RUB|RUR|UAH|BGN)\b/, ['russian', 'ukrainian']],
  [/\bGR\d{20}/, ['greek']],
  [/\bBRL\b|\bPT\d{15}/, ['portuguese']],
  [/\b(?:DE|AT|CH)\d{15}|:25:\d{8}\/\d|Betrag|Buchung|Umsatz|Datum/, ['german']],
  [/\bFR\d{10}|Date de valeur|Montant/, ['french']],
  [/\bIT\d\d[A-Z]\d{10}|Importo/, ['italian']],
  [/\bES\d{15}|Importe|Fecha/, ['spanish']],
];
/** Signs that may stand beside letters. */
const SIGNS = new Set('€£¥§°«»„“”‚‘’–—…·©®²³½№¿¡ºª´`'.split(''));
/** Bytes that are looked at. */
const SAMPLE_BYTES = 24_000;

/** How bytes are encoded that no mark or declaration names. `isSure` is false where another encoding gives other letters as well. */
export function guessEncoding(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array, encoding: Encoding) => string | undefined,
): { encoding: Encoding; isSure: boolean } {
  const sample = foreignWords(bytes);
  const head = String.fromCharCode(...bytes.subarray(0, 4096));
  const spoken = new Set(SPOKEN.flatMap(([pattern, languages]) => (pattern.test(head) ? languages : [])));
  const found = [
    ...CANDIDATES.map(([encoding, languages]) => {
      const text = decode(sample, encoding);
      const scores = languages.map((one) =>
        text === undefined ? -Infinity : scoreOf(text, one, spoken.has(one)),
      );
      return {
        encoding,
        text,
        score: Math.max(...scores),
        isSpoken: languages.some((one) => spoken.has(one)),
      };
    }),
    ...PAIRED.map(([encoding, judge]) => ({
      ...{ encoding, text: decode(sample, encoding), score: pairScore(sample, judge), isSpoken: false },
    })),
  ].filter(({ text }) => text !== undefined);
  const best = found.reduce((one, other) => (other.score > one.score ? other : one));
  const rival = found.find(
    (one) =>
      one.text !== best.text &&
      one.score >= best.score * 0.98 &&
      // Without a sign of another language, the encoding of Western Europe is the likelier one.
      (one.isSpoken || best.encoding !== 'windows-1252'),
  );
  return { encoding: best.encoding, isSure: best.score > 0 && rival === undefined };
}

/** The words with bytes above 127, each once, parted by spaces. */
function foreignWords(bytes: Uint8Array): Uint8Array {
  const isWord = (byte: number) => byte >= 0x80 || isLatin(byte) || isDigit(byte);
  const sample: number[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < bytes.length && sample.length < SAMPLE_BYTES; at++) {
    if (bytes[at]! < 0x80) continue;
    let start = at;
    while (start > 0 && at - start < 40 && isWord(bytes[start - 1]!)) start--;
    let end = at;
    // The second byte of a character of East Asia may be a sign.
    const isSecond = (place: number) =>
      bytes[place - 1]! >= 0x80 && bytes[place]! >= 0x40 && bytes[place]! < 0x7f;
    while (end < bytes.length && end - start < 80 && (isWord(bytes[end]!) || isSecond(end))) end++;
    const word = bytes.subarray(start, end);
    const key = word.join();
    if (!seen.has(key)) sample.push(...word, 0x20);
    seen.add(key);
    at = end;
  }
  return Uint8Array.from(sample);
}

const isLetter = (sign: string | undefined) => sign !== undefined && /\p{L}/u.test(sign);

function scoreOf(text: string, language: Language, isSpoken: boolean): number {
  const letters = LETTERS[language];
  const frequent = letters[0]! > '\u02ff' ? letters.slice(0, 8) : '';
  let score = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (sign < '\u0080') continue;
    const [before, after] = [text[at - 1], text[at + 1]];
    const lower = sign.toLowerCase();
    // A currency beside a number, where other encodings have a letter.
    if ('€£¥'.includes(sign) && [before, after].some((one) => /\d/.test(one ?? ''))) score += 1.2;
    else if (letters.includes(lower) || letters.includes(sign)) {
      score += frequent.includes(lower) && frequent !== '' ? 1.3 : 1;
      if (isSpoken) score += 0.1;
      // An upper case letter behind a lower case one, and Latin letters in a word of another script.
      if (lower !== sign && isLetter(before) && before === before!.toLowerCase()) score -= 1;
      if (frequent !== '' && [before, after].some((one) => one !== undefined && /[A-Za-z]/.test(one)))
        score -= 3;
    } else if (isLetter(sign)) score -= 1;
    else if (/[\u0080-\u009f\ufffd]/.test(sign) || /[\u2500-\u25ff]/.test(sign)) score -= 3;
    else if (isLetter(before) && isLetter(after)) score -= 2;
    else if (!SIGNS.has(sign)) score -= 1;
    else if (isLetter(before) || isLetter(after)) score -= 0.5;
  }
  return score;
}

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const isLatin = (byte = 0) => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);

/** What two bytes say for an encoding of two bytes a character; undefined for a single byte. */
type PairJudge = (first: number, second: number | undefined) => { score: number; length: 1 | 2 };

function pairScore(bytes: Uint8Array, judge: PairJudge): number {
  let score = 0;
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at]! < 0x80) at++;
    else {
      const { score: one, length } = judge(bytes[at]!, bytes[at + 1]);
      // Letters of Europe stand in words, characters of East Asia seldom.
      const isInWord =
        isLatin(bytes[at - 1]) || isLatin(bytes[at + length]) || (length === 2 && isLatin(bytes[at + 1]));
      score += isInWord ? one - 1.5 : one;
      at += length;
    }
  }
  return score;
}

/** Kana and the kanji of everyday use; single bytes are narrow katakana. */
const isJapanese: PairJudge = (first, second = 0) => {
  if (first >= 0xa1 && first <= 0xdf) return { score: 0.4, length: 1 };
  const isCommon = (first === 0x82 && second >= 0x9f) || first === 0x83 || (first >= 0x88 && first <= 0x97);
  return { score: isCommon || first === 0x81 ? 2 : -2, length: 2 };
};

/** The first level of GB 2312, and its signs. */
const isChinese: PairJudge = (first, second = 0) => {
  if (second < 0xa1) return { score: -2, length: 2 };
  if (first >= 0xb0 && first <= 0xd7) return { score: 2, length: 2 };
  return { score: first >= 0xa1 && first <= 0xa9 ? 1 : -1, length: 2 };
};

const PAIRED = [
  ['shift_jis', isJapanese],
  ['gb18030', isChinese],
] as const;
