// Web addresses that a browser will be sent to: read as written first, then as the URL standard reads them.

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what is refused
const FORBIDDEN_RAW = /[\s\\\u0000-\u0020\u007f-\u009f]/u;

/** Whether a host is this machine itself, so that plain http is safe. Takes `URL.hostname`. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname)
  );
}

function isLabel(label: string): boolean {
  return label !== '' && !label.startsWith('-') && !label.endsWith('-');
}

/** Whether an IPv4 address is written as its four decimals: the parser takes `1` and `0x7f.1` for addresses too. */
function isPlainIfIpv4(hostname: string, authority: string): boolean {
  return !/^\d+(?:\.\d+){3}$/.test(hostname) || authority.replace(/:\d*$/, '') === hostname;
}

/**
 * The sentence that says why `text` is no absolute http(s) address a browser may be sent to, or undefined.
 * Judged on the raw text before the WHATWG URL parser fixes it: that parser drops tabs and turns `\` into `/`.
 */
export function webAddressFault(text: string, rule: { httpsOnly: boolean }): string | undefined {
  const form = 'Must be an absolute http or https URL.';
  if (!text.isWellFormed() || FORBIDDEN_RAW.test(text))
    return 'Must not contain spaces, backslashes or control characters.';
  const authority = /^https?:\/\/([^/?#]*)/i.exec(text)?.[1];
  if (authority === undefined || authority === '') return form;
  if (authority.includes('@')) return 'Must not contain a user name or password.';
  if (!URL.canParse(text)) return form;
  const url = new URL(text);
  const labels = url.hostname.startsWith('[') ? ['ipv6'] : url.hostname.split('.');
  if (/:0*$/.test(authority) || !labels.every(isLabel) || !isPlainIfIpv4(url.hostname, authority))
    return 'Must have a real host and port.';
  if (rule.httpsOnly && url.protocol !== 'https:' && !isLoopbackHost(url.hostname))
    return 'Must be an https URL.';
  return undefined;
}

/** The address that a contact opens: of a web address itself, `mailto:` of an e-mail address, `tel:` of a phone number. */
export function contactAddress(contact: string): string {
  if (contact.includes('://')) return contact;
  if (contact.includes('@')) return `mailto:${encodeURIComponent(contact).replace('%40', '@')}`;
  return `tel:${contact.replace(/[^+\d]/g, '')}`;
}

/** The path of a base URL, without a slash at its end. */
export function pathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '');
}

/** Whether a base URL is reached by https. */
export function isHttps(baseUrl: string): boolean {
  return new URL(baseUrl).protocol === 'https:';
}

/** Sent over https alone: over plain http it means nothing and must not be sent (RFC 6797, section 7.2). */
export const STRICT_TRANSPORT = 'max-age=63072000; includeSubDomains';
