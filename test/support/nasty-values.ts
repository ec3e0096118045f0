// The collected mischief that generators draw from: texts, numbers, addresses and bodies that have broken software elsewhere.

/** Stands in what is submitted, and would be shown nowhere, even as a field's name: a message or log line that holds it has repeated it. */
export const CANARY = 'CANARY=7f3a9';

/** Published test numbers: they pass every check that a real card passes. */
// biome-ignore format: a list to be read across
export const CARD_NUMBERS = ['4242424242424242', '4242 4242 4242 4242', '5555-5555-5555-4444', '378282246310005', '４２４２４２４２４２４２４２４２'];

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: templates of other people's software are meant
// biome-ignore format: a list to be read across
export const TEXTS = [
  "'; drop table payments; --",
  "' or '1'='1",
  '$1 ? ?? :name @p %s %n %x {0} ${7*7} {{7*7}} #{7*7} <%= 7*7 %>',
  '"><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'javascript:alert(1)//&lt;&#x3c;',
  'a\r\nSet-Cookie: a=b\r\n\r\nHTTP/1.1 200 OK',
  '\u001b[31mred\u001b[0m\u001b]0;title\u0007',
  '\u0000',
  'before\u0000after',
  '\u0001\u0008\u000b\u001f\u007f',
  '\u0080\u0085\u009f',
  'tab\there',
  'line\nbreak',
  '\r',
  '\u202egnp.exe',
  '\u202a\u202b\u202c\u202d',
  '\u2066\u2067\u2068\u2069',
  '\u200e\u200f\u061c',
  '\u200b\u200c\u200d\u2060\ufeff',
  '\ufeffBOM',
  '\u2028\u2029',
  '\ud800',
  '\udfff\ud800',
  'a\udc00b',
  '\ufffd\ufffe\uffff\u{1ffff}',
  '\u{10ffff}\u{e0001}',
  'e\u0301 \u00e9 \u1e9b\u0323 \ufb01 \u212b',
  'İıſßẞΣς',
  'Z\u0351\u036b\u0343\u036a\u0302a\u0329\u0333l\u034fg\u0321o',
  '🏳️‍🌈🇨🇭👍🏽',
  '\\', '\\\\u0000', '\\u0000', '\\x00', '\\N', '\\.', '{"a":1}', '"', "'", '`', '/*', '*/', '--', '%', '_', '%00', '%0d%0a',
  '', ' ', ' leading and trailing ', '\u00a0\u3000',
  '../../../../etc/passwd', 'C:\\Windows\\System32', 'file:///etc/passwd',
  "=cmd|' /C calc'!A0", '+1+1', '@SUM(1)', '-1', '${jndi:ldap://x/a}', '() { :;}; echo', '| id', '$(id)',
  '__proto__', 'constructor', 'toString', 'null', 'undefined', 'NaN', 'true', '0', '1e5',
  'CANARY=7f3a9',
  'CANARY=7f3a9 \u0000',
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: templates of other people's software are meant

/** How a number may stand in JSON, and how it may not. */
// biome-ignore format: a list to be read across
export const AMOUNTS = [
  '0.01', '0.010', '1', '1.0', '1e2', '1E+2', '1e-2', '0.1e1', '12.5', '49.90', '64.1', '19.99', '1.005', '0.1', '0.29',
  '999999999999.99', '999999999999.990000', '999999999999.991', '999999999999.995', '1000000000000', '999999999999.9899999999999999',
  '99.99999999999999999', '0.009999999999999999999', '0.001', '1.001', '1e-3', '1e-400', '1e400', '-1e400', '1e11', '1e12',
  '100000000000000e-2', '9007199254740993', '9007199254740991', '90071992547409.93', '4.35', '1.10000000000000000000000000000000001',
  '0', '-0', '0.0', '0e5', '-1', '-0.01', '00.1', '01', '1.', '.5', '+1', '1_000', '1,5', '0x10', '0b1', '1n', 'NaN', 'Infinity', '-Infinity',
  '"10"', '"49.90"', 'null', 'true', 'false', '[]', '[1]', '{}', '""', '١', '1e', '1e+', '--1', '4242424242424242', '1e1000000000000000000000',
  `1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`, `1.${'0'.repeat(400)}`,
];

// biome-ignore format: a list to be read across
export const ADDRESSES = [
  'https://shop.example/thanks', 'http://shop.example', 'HTTPS://SHOP.EXAMPLE/', 'https://shop.example:8443/a?b=c#d', 'https://例え.テスト/道',
  'http://[::1]/', 'http://127.0.0.1:1', 'https://xn--nxasmq6b/', `https://shop.example/${'a'.repeat(2027)}`, `https://shop.example/${'a'.repeat(2028)}`,
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'ftp://shop.example', '//evil.example', '/relative', 'https:shop.example',
  'https:///shop.example', 'https:/\\shop.example', 'https://shop.example\\@evil.example', 'https://user:pass@evil.example', 'https://@evil.example',
  'https://shop.example@evil.example', 'https://evil.example/ ', ' https://evil.example', 'https://evil.example/\t', 'ht\ntps://evil.example',
  'https://evil.example/\r\nLocation: x', 'https://', 'https://.', 'https://a..b', 'https://.a', 'https://a.', 'https://a:', 'https://a:0', 'https://a:65536',
  'https://a:8a', 'https://a:-1', 'https://%00/', 'https://[::', 'https://[x]', 'https://1.2.3.256', 'https://0x7f.1', 'https://2130706433', 'https://a b',
  'https://a%20b', 'https://a\u3002b', 'https://\u202eevil.example', 'https://evil.example/\u0000', 'https://evil.example/\ud800', 'https://a<b', 'https://a/"><script>',
  'https://a/?q=\'"<>`{}|^', 'http:CANARY=7f3a9', '',
];

/** Metadata beyond its limits. */
export const DEEP_METADATA = [
  '['.repeat(500) + ']'.repeat(500),
  `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`,
  `{"a":[${'{},'.repeat(2000)}{}]}`,
  `{"a":${'[[[[[1]]]]]'}}`,
  '{"a":{"b":{"c":{"d":{"pan":"4111111111111111"}}}}}',
  '{"n":12345678901234567890}',
  '{"n":4242424242424242}',
  '{"4242424242424242":1}',
  '{"":"","\\u0000":"\\u0000","\\ud800":1}',
  '{"2":1,"1":2,"b":3,"a":4,"b":5,"-1":6}',
  '{"x":1e-7,"y":1E5,"z":-0,"w":0.10}',
];

/** Whole bodies that are no payment request, though some look like one. */
// biome-ignore format: a list to be read across
export const BODIES: Buffer[] = [
  '', ' ', '\ufeff', '\ufeff{"amount":1}', ' \r\n\t{"amount":1}\n', '{"amount":1}\u0000', '\u0000', 'null', 'true', '0', '""', '"CANARY=7f3a9"', '[]', '[{"amount":1}]',
  '{', '}', '{}', '{"amount"}', '{"amount":}', '{"amount":1,}', "{'amount':1}", '{amount:1}', '{"amount":1}{"amount":1}', '{"amount":1/*c*/}',
  '{"amount":1,"amount":2}', '{"amount":2,"amount":"x"}', '{"__proto__":{"amount":1}}', '{"amount":1,"__proto__":null}', '{"amount":1,"\\u005f_proto__":1}',
  '{"amount":1,"constructor":{"prototype":{"admin":true}}}', '{"amount":1,"constructor":1,"toString":2,"hasOwnProperty":3,"valueOf":4}',
  '{"amount":1,"customer":{"__proto__":1}}', '{"amount":{"valueOf":1}}', '{"Amount":1}', '{"amount ":1}', '{"\\u0061mount":1}', '{"amount":1,"customer":[]}',
  '{"amount":1,"customer":"x","metadata":[],"description":{},"return_url":1,"expires_in":[]}', '{"amount":1,"metadata":null,"customer":null,"currency":null}',
  'amount=1&currency=USD', '<payment><amount>1</amount></payment>', '--x\r\nContent-Disposition: form-data; name="amount"\r\n\r\n1\r\n--x--',
  '['.repeat(30_000), '['.repeat(30_000) + ']'.repeat(30_000), '{"a":'.repeat(10_000), `{"amount":1,"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
  `{${Array.from({ length: 4000 }, (_, i) => `"k${i}":${i}`).join(',')},"amount":1}`, `{"amount":1,"description":"${'x'.repeat(65_000)}"}`,
  `{"amount":1}${' '.repeat(65_536 - 12)}`, `{"amount":1}${' '.repeat(65_536 - 11)}`, `{"amount":${'9'.repeat(60_000)}}`,
].map((text) => Buffer.from(text)).concat([
  Buffer.from('{"amount":1,"description":"\xff"}', 'latin1'),
  Buffer.from('{"amount":1,"description":"\xed\xa0\x80"}', 'latin1'),
  Buffer.from('{"amount":1,"description":"\xc0\x80"}', 'latin1'),
  Buffer.from('{"amount":1,"description":"\xf4\x90\x80\x80"}', 'latin1'),
  Buffer.from('{"amount":1}', 'utf16le'),
  Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]),
]);

/** Paths beside the beaten ones; `@id0` stands for an earlier payment's id. */
// biome-ignore format: a list to be read across
export const ODD_PATHS = [
  '/', '/v1', '/v1/', '/v1/payments/', '//v1/payments', '/v1//payments', '/V1/payments',
  '/v1/payments/../payments', '/%76%31/payments', '/v1/payments%2F@id0', '/v1/payments/@id0/cancel/',
  '/v1/payments/@id0/approve', '/health/', '/HEALTH', '/health?x', '/favicon.ico', '/assets/style.css',
  '/assets/../package.json', '/..%2f..%2fetc/passwd', '/payment.php/', '/payment.php%00', '/v1/%zz',
  '/v1/payments/%', '/register', '/admin', '/console', '/.git/config', '/openapi.json', `/${'a'.repeat(9000)}`,
  `/v1/${'%41'.repeat(900)}`,
];

/** What may stand where an id belongs. */
// biome-ignore format: a list to be read across
export const ODD_IDS = [
  'pay_', '@id0x', '@id0%20', '..', '%2e%2e', '%2f', '%00', '%ff', '@id0%0a', '@id0/',
  'null', "'or'1", `pay_${'i'.repeat(36)}`, 'x'.repeat(3000), '%E2%80%AE', '$&', '@id0;a=b', '@id0.json',
];

/** What percent-encoding should not look like. */
// biome-ignore format: a list to be read across
export const ODD_ENCODINGS = ['%', '%zz', '%00', '%ed%a0%80', '%c0%af', '%u0041', '+', '%E2%80%AE', '&', '%F0%9F%98%80', "'%20or%201=1--"];

// biome-ignore format: a list to be read across
export const METHODS = [
  'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'MKCALENDAR', 'M-SEARCH',
  'PURGE', 'QUERY',
];

const HEAD = 'Host: pay.test\r\nAuthorization: Bearer cfk_test_development_key_replace_before_production\r\n';
const JSON_HEAD = `${HEAD}Content-Type: application/json\r\n`;

/** Bytes that are not quite HTTP/1.1, or are it in ways that proxies and servers have read differently. */
// biome-ignore format: a list to be read across
export const MALFORMED: Buffer[] = [
  '', '\r\n', '\0', 'GET', 'GET ', 'GET /health', 'GET /health\r\n\r\n', 'GET /health HTTP/1.1\r\n', `GET /health HTTP/1.1\r\n\r\n`,
  `GET /health HTTP/1.0\r\n\r\n`, `GET /health HTTP/2.0\r\n${HEAD}\r\n`, `GET /health HTTP/0.9\r\n\r\n`, `GET /health HTTPS/1.1\r\n${HEAD}\r\n`, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  `GET  /health  HTTP/1.1\r\n${HEAD}\r\n`, `GET /he alth HTTP/1.1\r\n${HEAD}\r\n`, `get /health HTTP/1.1\r\n${HEAD}\r\n`, `FOO /health HTTP/1.1\r\n${HEAD}\r\n`, `GET health HTTP/1.1\r\n${HEAD}\r\n`,
  `GET http://pay.test/health HTTP/1.1\r\n${HEAD}\r\n`, `GET http://evil.example:99999/health HTTP/1.1\r\n${HEAD}\r\n`, `GET //evil.example/health HTTP/1.1\r\n${HEAD}\r\n`, `OPTIONS * HTTP/1.1\r\n${HEAD}\r\n`, `GET * HTTP/1.1\r\n${HEAD}\r\n`,
  `GET /../../etc/passwd HTTP/1.1\r\n${HEAD}\r\n`, `GET /v1/payments/../../health HTTP/1.1\r\n${HEAD}\r\n`, `GET /v1/payments#x HTTP/1.1\r\n${HEAD}\r\n`, `GET /v1/payments?limit=1?limit=2 HTTP/1.1\r\n${HEAD}\r\n`,
  `GET /\u{1f600} HTTP/1.1\r\n${HEAD}\r\n`, `GET /%zz HTTP/1.1\r\n${HEAD}\r\n`, `GET /payment.php?payment_id=%zz HTTP/1.1\r\n${HEAD}\r\n`, `GET /payment.php HTTP/1.1\r\n\r\n`, `GET /payment.php HTTP/1.1\r\n${HEAD}${HEAD}\r\n`,
  `GET /payment.php?payment_id=${'a'.repeat(8200)} HTTP/1.1\r\n${HEAD}\r\n`, `GET /${'a'.repeat(8200)} HTTP/1.1\r\n${HEAD}\r\n`, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HEAD}\r\n`, `GET /payment.php HTTP/1.1\r\n${HEAD}Expect: the impossible\r\n\r\n`,
  `CONNECT pay.test:443 HTTP/1.1\r\n${HEAD}\r\n`, `CONNECT / HTTP/1.1\r\n\r\n`, `TRACE / HTTP/1.1\r\n${HEAD}\r\n`, `GET / HTTP/1.1\r\n${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, `GET / HTTP/1.1\r\n${HEAD}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n`,
  `GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`, `GET /health HTTP/1.1\r\nHost:\r\n\r\n`, `GET /health HTTP/1.1\r\nHost : a\r\n\r\n`, `GET /health HTTP/1.1\r\n Host: a\r\n\r\n`, `GET /health HTTP/1.1\r\nHost: a\r\n b\r\n\r\n`,
  `GET /health HTTP/1.1\nHost: a\n\n`, `GET /health HTTP/1.1\rHost: a\r\r`, `GET /health HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n`, `GET /health HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n`, `GET /health HTTP/1.1\r\nHost: a\r\nX\r\n\r\n`,
  `GET /health HTTP/1.1\r\n${HEAD}X: ${'a'.repeat(20_000)}\r\n\r\n`, `GET /health HTTP/1.1\r\n${HEAD}${'X: a\r\n'.repeat(70)}\r\n`, `GET /health HTTP/1.1\r\n${HEAD}${'X: a\r\n'.repeat(3000)}\r\n`,
  `GET /health HTTP/1.1\r\n${HEAD}Expect: 100-continue\r\n\r\n`, `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Expect: 100-continue\r\nContent-Length: 12\r\n\r\n{"amount":1}`, `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Expect: 200-ok\r\nContent-Length: 12\r\n\r\n{"amount":1}`,
  `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}\r\n`, `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Content-Length: 0\r\n\r\n`, `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Content-Length: 20\r\n\r\n{"amount":1}`, `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Content-Length: 5\r\n\r\n{"amount":1}`,
  ...['-1', '+12', '0x0c', '12, 12', '12\r\nContent-Length: 13', '99999999999999999999999', '1e1', '', ' ', '12abc', '100000000'].map((length) => `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Content-Length: ${length}\r\n\r\n{"amount":1}`),
  ...['chunked', 'Chunked', 'gzip, chunked', 'chunked, gzip', 'identity', 'xchunked', ' chunked', 'chunked\r\nTransfer-Encoding: identity', 'chunked\r\nContent-Length: 4', ''].map((coding) => `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Transfer-Encoding: ${coding}\r\n\r\nc\r\n{"amount":1}\r\n0\r\n\r\n`),
  ...['c;ext=1\r\n{"amount":1}\r\n0\r\nTrailer: x\r\n\r\n', 'zz\r\n', '-1\r\n', 'ffffffffffffffffff\r\n', '5\r\n{"amount":1}\r\n0\r\n\r\n', 'c\n{"amount":1}\n0\n\n', `c;${'x'.repeat(20_000)}\r\n{"amount":1}\r\n0\r\n\r\n`, '0\r\n\r\n', 'c\r\n{"amount":1}\r\n0\r\n', `11170\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`].map(
    (chunks) => `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks}`),
  `GET /health HTTP/1.1\r\n${HEAD}Content-Length: 3\r\n\r\nabcGET /health HTTP/1.1\r\n${HEAD}\r\n`, `GET /health HTTP/1.1\r\n${HEAD}\r\n`.repeat(20), `HEAD /v1/payments HTTP/1.1\r\n${HEAD}\r\nGET /nowhere HTTP/1.1\r\n${HEAD}\r\n`,
  `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Content-Length: 12\r\n\r\n{"amount":1}`.repeat(3), `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Content-Length: 12\r\n\r\n{"amount":1}garbage\r\n\r\n`, `POST /v1/payments HTTP/1.1\r\n${JSON_HEAD}Content-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`,
  `POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(70_000)}GET /health HTTP/1.1\r\n${HEAD}\r\n`, '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', 'SSH-2.0-x\r\n', 'USER anonymous\r\n', '{"amount":1}', 'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n',
].map((text) => Buffer.from(text));
