// Which URLs an endpoint may have and which addresses may be connected to: tables of what attackers of other services tried.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AddressRules,
  checkUrl,
  DEVELOPMENT_RULES,
  isPublicAddress,
  mayConnect,
} from '../../src/webhooks/addresses.ts';
import { FORBIDDEN, REFUSED_URLS, words } from '../support/forbidden-addresses.ts';

const STRICT: AddressRules = { allowHttp: false, allowedNetworks: [], ports: [] };

test('addresses of the Internet are public, IPv4 and IPv6', () => {
  const all =
    words(`1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
    168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255
    198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 2001:200:: 2001:4860:4860::8888 2003:: 2606:4700::1111
    2a00:1450:4001:81b::200e 2620:4f:7fff::1 3ffe:ffff:ffff::1 2A02:1234:5678:9ABC:DEF0:1234:5678:9ABC 2001:4860:0:0:0:0:8.8.8.8`);
  assert.deepEqual(
    all.filter((address) => !isPublicAddress(address)),
    [],
  );
});

test('addresses that are not public are refused in every form', () => {
  assert.ok(FORBIDDEN.length > 100, `${FORBIDDEN.length}`);
  assert.deepEqual(
    FORBIDDEN.filter((address) => isPublicAddress(address) || mayConnect(address, STRICT)),
    [],
  );
  const nothing = [
    '',
    'localhost',
    '1',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '1.2.3.4.5',
    '[::1]',
    '1.2.3.4 ',
    ':::',
    'undefined',
  ];
  assert.deepEqual(
    nothing.filter((text) => isPublicAddress(text) || mayConnect(text, DEVELOPMENT_RULES)),
    [],
  );
});

/** Entries of `allowedNetworks`, what they open, and what they leave closed. */
const OPENED: [entries: string, open: string, closed: string][] = [
  [
    '10.1.0.0/16',
    '10.1.0.1 10.1.255.255 ::ffff:10.1.2.3',
    '10.2.0.1 127.0.0.1 ::ffff:10.2.0.1 64:ff9b::10.1.0.1 2002:a01:1::',
  ],
  ['10.1.2.3', '10.1.2.3', '10.1.2.4'],
  ['10.1.2.3/32 192.168.7.0/24', '10.1.2.3 192.168.7.9', '10.1.2.4 192.168.8.1'],
  ['fd12:3456::/32', 'fd12:3456::1', 'fd12:3457::1 fc00::1 ::1'],
  ['127.0.0.0/8', '127.0.0.1 127.9.9.9', '0.0.0.0 ::1 169.254.169.254'],
  ['::1', '::1', '127.0.0.1 ::'],
  ['0.0.0.0/1', '10.0.0.1', '127.0.0.1 0.0.0.0 100.100.100.200 192.168.0.1'],
  [
    '0.0.0.0/0',
    '10.0.0.1 192.168.0.1',
    '127.0.0.1 0.0.0.0 169.254.1.1 169.254.169.254 168.63.129.16 100.100.100.200 192.0.0.192',
  ],
  [
    '::/0',
    'fd00::1',
    '::1 :: fe80::1 fd00:ec2::254 fd20:ce::254 ::ffff:127.0.0.1 64:ff9b::10.0.0.1 2002:7f00:1::1 ::127.0.0.1',
  ],
  ['fd00::/8', 'fd00::1', 'fd00:ec2::254 fd20:ce::254 fd00:ec2::23'],
  ['100.64.0.0/10', '100.64.0.1', '100.100.100.200'],
  ['169.254.0.0/16', '169.254.1.1', '169.254.169.254 169.254.170.2'],
  ['169.254.169.254/32', '169.254.169.254', '169.254.169.253'],
  ['fd00:ec2::254/128', 'fd00:ec2::254', 'fd00:ec2::255'],
  ['64:ff9b::/96', '64:ff9b::8.8.8.8', '64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::7f00:1'],
  ['64:ff9b::/96 10.0.0.0/8', '64:ff9b::10.0.0.1', '64:ff9b::169.254.169.254'],
  ['2001::/32', '', '2001:0:7f00:1:: 2001:0:4136:e378:8000:63bf:80ff:fffe'],
];

test('an entry of allowed_networks opens what it names; metadata, loopback and the link only where it names just them', () => {
  for (const [entries, open, closed] of OPENED) {
    const rules = { allowedNetworks: words(entries) };
    for (const address of open.split(' ').filter(Boolean))
      assert.ok(mayConnect(address, rules), `${entries} opens ${address}`);
    for (const address of closed.split(' '))
      assert.ok(!mayConnect(address, rules), `${entries} leaves ${address} closed`);
    assert.ok(mayConnect('8.8.8.8', rules) && mayConnect('2606:4700::1111', rules));
  }
});

test('development reaches this machine and private networks, but no metadata', () => {
  for (const address of words(
    '127.0.0.1 ::1 10.0.0.1 172.17.0.1 192.168.1.1 fd12::1 8.8.8.8 ::ffff:127.0.0.1',
  ))
    assert.ok(mayConnect(address, DEVELOPMENT_RULES), address);
  for (const address of words(
    '169.254.169.254 100.100.100.200 168.63.129.16 fd00:ec2::254 fe80::1 0.0.0.0 :: 224.0.0.1',
  ))
    assert.ok(!mayConnect(address, DEVELOPMENT_RULES), address);
  assert.equal(checkUrl('http://localhost:3000/hook', DEVELOPMENT_RULES), undefined);
});

test('URLs of another form, with a user, an IP address however it is written, or another port are refused', () => {
  assert.ok(REFUSED_URLS.length >= 85, `${REFUSED_URLS.length}`);
  for (const url of REFUSED_URLS)
    assert.match(checkUrl(url, STRICT) ?? 'taken', /^Must .*\.$/, JSON.stringify(url));
});

test('https URLs with a name are taken, on port 443 and those that are listed', () => {
  for (const url of [
    'https://shop.example/hook',
    'HTTPS://Shop.Example',
    'https://shop.example:443/a?b=c',
    'https://a-b.shop.example/x',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'https://localhost/',
    'https://1e100.net/',
  ])
    assert.equal(checkUrl(url, STRICT), undefined, url);
  assert.equal(checkUrl('https://shop.example:8443/', { ...STRICT, ports: [8443] }), undefined);
  assert.equal(
    checkUrl('https://shop.example:8444/', { ...STRICT, ports: [8443] }),
    'Must have port 443 or 8443.',
  );
});

test('plain http is taken only in development or with allowed_networks, on a port that is listed', () => {
  const url = 'http://shop.internal:8080/hook';
  assert.equal(checkUrl(url, { ...STRICT, ports: [8080] }), 'Must be an https URL.');
  assert.equal(checkUrl(url, { ...STRICT, ports: [8080], allowedNetworks: ['10.0.0.0/8'] }), undefined);
  assert.equal(checkUrl(url, { ...STRICT, allowedNetworks: ['10.0.0.0/8'] }), 'Must have port 443.');
  assert.equal(
    checkUrl('http://shop.internal/', { ...STRICT, allowedNetworks: ['10.0.0.0/8'] }),
    'Must have port 443.',
  );
  assert.equal(
    checkUrl('http://10.0.0.1:8080/', DEVELOPMENT_RULES),
    'Must name its host: an IP address is not allowed.',
  );
  for (const address of ['http://127.0.0.1:3000/hook', 'http://[::1]:3000/hook']) {
    assert.equal(checkUrl(address, DEVELOPMENT_RULES), undefined, address);
    const listed = { ...STRICT, allowedNetworks: ['127.0.0.0/8', '::1'], ports: [3000] };
    assert.match(checkUrl(address, listed) ?? '', /an IP address is not allowed/, address);
  }
});
