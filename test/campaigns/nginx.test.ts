// The service behind a real nginx with deploy/nginx.conf: in production, over TLS, below a path.
import { isInstalled, startNginx } from '../support/proxy.ts';
import { proxyPromises } from './proxy-promises.ts';

const missing = isInstalled('nginx', '-v') ? false : 'nginx is not installed (apt-get install nginx-light)';

proxyPromises('nginx', startNginx, { missing, waitsForRestarts: false, repeatsKeyedWrites: true });
