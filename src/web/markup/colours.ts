// A merchant's colour as the tokens of a sheet, made lighter or darker until everything on it can be read (WCAG 2.2, 1.4.3).
import type { Asset } from './assets.ts';

type Colour = readonly [red: number, green: number, blue: number];

const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [0, 0, 0];
/** What the merchant's colour is read on as text: `--canvas`, and in the dark `--wash`. */
const CANVAS: Colour = [0xf4, 0xf3, 0xef];
const DARK_WASH: Colour = [0x23, 0x25, 0x2c];
/** The ratio that text needs, and that of the accent, which lies on its own tint, too. */
const READABLE = 4.5;
const AS_ACCENT = 5;
/** How much of `--on-brand` the engraving lays over the stub. */
const ENGRAVING = 0.16;
const STEP = 0.02;
/** How much darker the stub is in the dark. */
const DARK_SHADE = 0.25;

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The ratio of contrast of two colours, 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const mixed = (colour: Colour, other: Colour, share: number): Colour =>
  colour.map((part, i) => Math.round(part + (other[i]! - part) * share)) as unknown as Colour;

/** `colour`, nearer to `end` by as many steps as `isReadable` asks for. */
function shadeOf(colour: Colour, end: Colour, isReadable: (shade: Colour) => boolean): Colour {
  for (let share = 0; share < 1; share += STEP) {
    const shade = mixed(colour, end, share);
    if (isReadable(shade)) return shade;
  }
  return end;
}

/** The worst contrast of a stub's text: where the engraving lies under it. */
export const contrastOnStub = (brand: Colour, onBrand: Colour): number =>
  contrast(mixed(brand, onBrand, ENGRAVING), onBrand);

const better = (ground: Colour): Colour =>
  contrast(ground, WHITE) >= contrast(ground, BLACK) ? WHITE : BLACK;
export const colourOf = (hex: string): Colour =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Colour;
const written = (colour: Colour) => `#${Buffer.from(colour).toString('hex')}`;

/** The colours of a merchant by their tokens, in the light and in the dark, from one as `#rrggbb`. */
export function coloursOf(hex: string): Record<'light' | 'dark', Record<string, string>> {
  const own = colourOf(hex);
  const onBrand = better(own);
  const away = onBrand === WHITE ? BLACK : WHITE;
  const brand = shadeOf(own, away, (shade) => contrastOnStub(shade, onBrand) >= READABLE);
  const light = shadeOf(own, BLACK, (shade) => contrast(shade, CANVAS) >= AS_ACCENT);
  const dark = shadeOf(own, WHITE, (shade) => contrast(shade, DARK_WASH) >= AS_ACCENT);
  const tokens = (area: Colour, accent: Colour) => ({
    '--brand': written(area),
    '--on-brand': written(onBrand),
    '--accent': written(accent),
    '--on-accent': written(better(accent)),
    '--tint': `color-mix(in oklab, ${written(accent)} 8%, var(--paper))`,
  });
  const shaded = onBrand === WHITE ? mixed(brand, BLACK, DARK_SHADE) : brand;
  return { light: tokens(brand, light), dark: tokens(shaded, dark) };
}

/** The name of the sheet of a colour below a base path. */
export const nameOfColours = (hex: string): string => `assets/colours-${hex.slice(1).toLowerCase()}.css`;

/** The sheet that `nameOfColours` names; undefined for any other name. */
export function coloursNamed(name: string): Asset | undefined {
  const [, digits] = /^assets\/colours-([0-9a-f]{6})\.css$/.exec(name) ?? [];
  if (digits === undefined) return undefined;
  const { light, dark } = coloursOf(`#${digits}`);
  const block = (tokens: Record<string, string>) =>
    `{${Object.entries(tokens)
      .map(([token, value]) => `${token}:${value};`)
      .join('')}}`;
  const css = `@media screen{:root${block(light)}:root[data-theme="dark"]${block(dark)}}
@media screen and (prefers-color-scheme:dark){:root:not([data-theme="light"])${block(dark)}}`;
  return { name, type: 'text/css; charset=utf-8', content: Buffer.from(css) };
}
