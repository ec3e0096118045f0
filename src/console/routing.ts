// Finds the route of an address, for pages that are shown elsewhere than where they lie.
import type { Route } from './route.ts';

export interface FoundRoute {
  route: Route;
  params: Readonly<Record<string, string>>;
}

/** The route of `method` whose path `target` (below the console's address, perhaps with a query) is. */
export function findRoute(
  routes: readonly Route[],
  method: Route['method'],
  target: string,
): FoundRoute | undefined {
  const path = target.split('?', 1)[0]!;
  for (const route of routes) {
    const params = route.method === method ? paramsOf(route.path, path) : undefined;
    if (params) return { route, params };
  }
  return undefined;
}

/** Segment by segment; a literal one stands before a parameter's, as Fastify has it, only if its route is named first. */
function paramsOf(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    if (segment.startsWith(':')) {
      const value = decoded(given[i]!);
      if (!value) return undefined;
      params[segment.slice(1)] = value;
    } else if (segment !== given[i]) return undefined;
  }
  return params;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
