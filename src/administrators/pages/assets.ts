// What the console's pages load: the sheet and the icon of all pages, and the console's own script.
import { asset, assets } from '../../web/markup/assets.ts';

export const script = asset(new URL('console.js', import.meta.url), 'text/javascript; charset=utf-8');
export const consoleAssets = [...assets, script];
