// What the console's pages load: their sheet, the typeface and the icon of all pages, and the console's own script.
import { asset, assets, consoleStylesheet } from '../../web/markup/assets.ts';

export const script = asset(new URL('console.js', import.meta.url), 'text/javascript; charset=utf-8');
export const consoleAssets = [...assets, consoleStylesheet, script];
