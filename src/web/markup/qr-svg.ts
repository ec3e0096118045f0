// A QR code as it is shown and printed.
import { attributes, type Html, html } from '../../lib/html.ts';

/** The modules of a side and the dark ones as lines to be drawn one unit wide: what `qrPath` gives. */
interface Drawing {
  size: number;
  path: string;
}

/**
 * A code as an image that is called `label`, dark on white in every theme, since many readers take nothing else. `widthMm` is its side on
 * paper, on a screen the stylesheet says; `over` is painted over it.
 */
export function qrSvg(
  { size, path }: Drawing,
  label: string,
  { widthMm, over }: { widthMm?: number; over?: readonly Html[] } = {},
): Html {
  const frame = attributes({
    width: widthMm === undefined ? undefined : `${widthMm}mm`,
    viewBox: `0 0 ${size} ${size}`,
    role: 'img',
    'aria-label': label,
    'shape-rendering': 'crispEdges',
  });
  const squares = html`<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${path}"/>`;
  return html`<svg class="qr"${frame}>${squares}${over}</svg>`;
}
