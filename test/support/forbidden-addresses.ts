// What attackers of other services had them connect to: addresses that are not public, and URLs that lead there.

/** The words of a text, whatever stands between them. */
export const words = (text: string) => text.trim().split(/\s+/);

/** Addresses of this machine, of private networks, of clouds' metadata and of nobody, in every family and form. */
export const FORBIDDEN =
  words(`0.0.0.0 0.1.2.3 0.255.255.255 10.0.0.0 10.0.0.1 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.0 127.0.0.1
  127.1.2.3 127.255.255.255 168.63.129.16 169.254.0.0 169.254.169.253 169.254.169.254 169.254.170.2 169.254.170.23 169.254.255.255 172.16.0.0
  172.17.0.1 172.31.255.255 192.0.0.0 192.0.0.8 192.0.0.9 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1
  192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1 203.0.113.255 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
  :: ::1 0:0:0:0:0:0:0:1 ::2 ::7f00:1 ::127.0.0.1 ::10.0.0.1 ::8.8.8.8 ::ffff:0.0.0.0 ::ffff:127.0.0.1 ::ffff:7f00:1 ::FFFF:7F00:0001
  ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:10.0.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1
  64:ff9b::169.254.169.254 64:ff9b::8.8.8.8 64:ff9b:1::10.0.0.1 64:ff9b:1:7f00:0:100:: 100::1 100:0:0:1::1 2001::1 2001:0:7f00:1::
  2001:0:4136:e378:8000:63bf:80ff:fffe 2001:1::1 2001:2::1 2001:3::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1 2002:7f00:1::
  2002:a00:1::1 2002:a9fe:a9fe::1 2002:808:808::1 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1 fc00::1 fd00::1 fd00:ec2::254
  fd00:ec2::23 fd20:ce::254 fdff::1 fe00::1 fe80::1 fe80::1%lo fe80::1%1 febf::1 fec0::1 ff00::1 ff02::1 ff0e::1 1fff::1
  2a00:1450::5efe:127.0.0.1 2a00:1450::5efe:a00:1 2a00:1450::200:5efe:192.168.0.1 2a00:1450::5efe:169.254.169.254 2a00:1450::1%eth0`);

/** URLs that are refused before anything is looked up. */
export const REFUSED_URLS = [
  ...words(`http://shop.example/hook ftp://shop.example/ file:///etc/passwd gopher://shop.example/ javascript:alert(1) data:text/plain,x
    ws://shop.example/ //shop.example/ shop.example /hook https: https:// https:/// https:shop.example https:/shop.example
    https://user@shop.example/ https://user:pw@shop.example/ https://@shop.example/ https://shop.example@10.0.0.1/
    https://127.0.0.1/ https://127.1/ https://127.0.1/ https://2130706433/ https://0x7f000001/ https://0x7f.1/ https://0x7f.0x0.0x0.0x1/
    https://0177.0.0.1/ https://017700000001/ https://00000177.0.0.1/ https://127.0.0.1./ https://0/ https://0.0.0.0/ https://1/
    https://8.8.8.8/ https://134744072/ https://169.254.169.254/latest/meta-data/ https://0xa9fea9fe/ https://2852039166/
    https://0251.0376.0251.0376/ https://169.254.43518/ https://10.0.0.1:443/ https://192.168.0.1/ https://[::1]/ https://[::]/
    https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/ https://[0:0:0:0:0:ffff:7f00:1]/ https://[64:ff9b::7f00:1]/ https://[fe80::1%25lo]/
    https://[fe80::1%lo]/ https://[fd00:ec2::254]/ https://[2606:4700::1111]/ https://[::1]:443/ https://[v1.x]/ https://[127.0.0.1]/
    https://%31%32%37.0.0.1/ https://127%2e0%2e0%2e1/ https://127。0。0。1/ https://①②⑦.0.0.1/ https://127.0.0.1/ https://0X7F.1/
    https://shop.example:80/ https://shop.example:22/ https://shop.example:8443/ https://shop.example:6379/ https://shop.example:0/
    https://shop.example:/ https://shop.example:65536/ https://shop.example:443x/ https://shop.example:-1/ https://.shop.example/
    https://shop..example/ https://-shop.example/ https://shop.example.. https://shop.example./ https://.`),
  'https://shop.example /',
  ' https://shop.example/',
  'https://shop.example/ ',
  'https://shop\t.example/',
  'https://shop.example/\n',
  'https://shop.example\\@10.0.0.1/',
  'https:\\\\shop.example/',
  'https://shop.example/\u0000',
  'https://shop.example/\u2028',
  'https://shop.example/\ud800',
  'https://127.0.0.1\\.shop.example/',
  `https://shop.example/${'a'.repeat(2048)}`,
  '',
];
