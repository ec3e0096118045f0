// Where each surface is reached: its base URL, the address that listens for it, and the host name that tells it from its neighbours.
import { isHttps } from '../../lib/web-address.ts';
import type { Settings } from './settings.ts';

/** What may be kept apart: the API with checkout and registration, the console, and the administrators' API. */
type Surface = 'public' | 'console' | 'admin';

/** Surfaces that share a listening address with others and are chosen by host name. */
export interface Site {
  /** In lower case. */
  hostNames: string[];
  surfaces: Surface[];
}

/** An address, and the sites that share it; the first answers to every name that is no other's. */
interface ListenAddress {
  host: string;
  port: number;
  sites: Site[];
}

export interface Places {
  /** Without a slash at their ends. */
  baseUrls: Record<Surface, string>;
  checkoutBaseUrl: string;
  /** The first is the one that the public surface is on. */
  listeners: ListenAddress[];
}

type PlaceSettings = Pick<
  Settings,
  'host' | 'port' | 'base_url' | 'checkout_base_url' | 'tls' | 'console' | 'admin'
>;

/** Settles where everything is. `port`: the one that is listened on instead of the configured one. */
export function placesOf(settings: PlaceSettings, port = settings.port): Places {
  const main = { host: settings.host, port };
  const publicUrl = settings.base_url ?? addressOf(main.host, port, settings.tls);
  const checkoutBaseUrl = settings.checkout_base_url ?? publicUrl;
  const hostNames = [publicUrl, checkoutBaseUrl].map(nameOf);
  const baseUrls: Places['baseUrls'] = { public: publicUrl, console: publicUrl, admin: publicUrl };
  const listeners: ListenAddress[] = [{ ...main, sites: [{ hostNames, surfaces: ['public'] }] }];
  for (const surface of ['console', 'admin'] as const) {
    const place = settings[surface];
    const address = isApart(settings, surface)
      ? { host: place.host ?? main.host, port: place.port ?? port }
      : main;
    if (place.base_url !== undefined) baseUrls[surface] = place.base_url;
    else if (address !== main) {
      const host = settings.base_url === null ? address.host : nameOf(settings.base_url);
      baseUrls[surface] = addressOf(host, address.port, settings.tls);
    }
    addTo(listeners, address, nameOf(baseUrls[surface]), surface);
  }
  return { baseUrls, checkoutBaseUrl, listeners };
}

/** Whether a surface has an address of its own to listen on. */
function isApart(settings: PlaceSettings, surface: 'console' | 'admin'): boolean {
  const { host = settings.host, port = settings.port } = settings[surface];
  return host !== settings.host || port !== settings.port;
}

/** Whether all that a site serves is reached by https. */
export function isSecure(site: Site, places: Places): boolean {
  return urlsOf(site, places).every(isHttps);
}

/** The origins that a site is reached at, each once. */
export function originsOf(site: Site, places: Places): string[] {
  return [...new Set(urlsOf(site, places).map((url) => new URL(url).origin))];
}

function urlsOf({ surfaces }: Site, { baseUrls, checkoutBaseUrl }: Places): string[] {
  const urls = surfaces.map((surface) => baseUrls[surface]);
  return [...urls, ...(surfaces.includes('public') ? [checkoutBaseUrl] : [])];
}

/** Puts a surface on the listener of its address, to the site of its host name. */
function addTo(
  listeners: ListenAddress[],
  { host, port }: { host: string; port: number },
  hostName: string,
  surface: Surface,
): void {
  let listener = listeners.find((one) => one.host === host && one.port === port);
  if (!listener) {
    listener = { host, port, sites: [] };
    listeners.push(listener);
  }
  const site = listener.sites.find(({ hostNames }) => hostNames.includes(hostName));
  if (site) site.surfaces.push(surface);
  else listener.sites.push({ hostNames: [hostName], surfaces: [surface] });
}

const nameOf = (url: string) => new URL(url).hostname;

function addressOf(host: string, port: number, tls: PlaceSettings['tls']): string {
  return `${tls ? 'https' : 'http'}://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}
