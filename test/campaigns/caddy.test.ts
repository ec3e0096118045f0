// The service behind a real Caddy with deploy/Caddyfile: in production, over TLS, below a path.
import { isInstalled, startCaddy } from '../support/proxy.ts';
import { proxyPromises } from './proxy-promises.ts';

const missing = isInstalled('caddy', 'version') ? false : 'Caddy is not installed (apt-get install caddy)';

proxyPromises('Caddy', startCaddy, { missing, waitsForRestarts: true, repeatsKeyedWrites: false });
