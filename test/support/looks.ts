// How the texts of a page in a real browser look: all that their contrast depends on.
import type { Page } from 'playwright-core';

/** As much of the browser's own types as is looked at. */
interface Shown {
  value?: string;
  placeholder?: string;
  parentElement: Shown | null;
  childNodes: Iterable<{ nodeType: number; textContent: string }>;
  checkVisibility(): boolean;
  contains(other: Shown): boolean;
  matches(selector: string): boolean;
  getBoundingClientRect(): { left: number; right: number; top: number; bottom: number };
}
declare const document: { querySelectorAll(selector: string): Iterable<Shown> };
declare function getComputedStyle(element: Shown, part?: string): Record<string, string>;

declare const window: { looked: Map<string, unknown> };

/**
 * The look of each visible text, each look once: its colours and size, the colours of all that it lies in, and of what else
 * lies under or over it. Texts of one look are read equally well. The page keeps an element of each look, in `looked`.
 */
export function looksOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const PAINT =
      'backgroundColor backgroundImage opacity filter mixBlendMode position zIndex clipPath color'.split(' ');
    const TEXT = 'fontSize fontWeight textDecorationLine textShadow textIndent'.split(' ');
    const tell = (style: Record<string, string>, names: string[]) =>
      names.map((name) => style[name]).join(' ');
    const isPainted = (style: Record<string, string>) =>
      style.backgroundColor !== 'rgba(0, 0, 0, 0)' || style.backgroundImage !== 'none';
    /** From the page's root to each element: what is painted there. */
    const painted = new Map<Shown | null, string>();
    const texts: { one: Shown; look: string }[] = [];
    const grounds: Shown[] = [];
    for (const one of document.querySelectorAll('html, body, body *')) {
      if (!one.checkVisibility()) continue;
      const style = getComputedStyle(one);
      const parts = ['::before', '::after']
        .map((part) => getComputedStyle(one, part))
        .filter((part) => part.content !== 'none' && isPainted(part))
        .map((part) => tell(part, PAINT));
      const own = [tell(style, PAINT), ...parts].join(' & ');
      const above = painted.get(one.parentElement) ?? '';
      painted.set(one, above.endsWith(`|${own}`) ? above : `${above}|${own}`);
      if (isPainted(style)) grounds.push(one);
      const words = [...one.childNodes].map((node) => (node.nodeType === 3 ? node.textContent.trim() : ''));
      const text = [one.value ?? '', one.placeholder ?? '', ...words].join('');
      if (text === '') continue;
      const isShort = text.length === 1;
      const symbols = [...new Set(text.replace(/[\p{L}\p{N}\p{P}\s]/gu, ''))].join('');
      const marks = ['a', ':disabled', 'input'].map((selector) => one.matches(selector));
      texts.push({ one, look: [tell(style, TEXT), marks, isShort, symbols].join(' ') });
    }
    window.looked = new Map();
    for (const { one, look } of texts) {
      const box = one.getBoundingClientRect();
      const others = grounds.filter((ground) => {
        const { left, right, top, bottom } = ground.getBoundingClientRect();
        const meets = left < box.right && right > box.left && top < box.bottom && bottom > box.top;
        return meets && !ground.contains(one);
      });
      const whole = [painted.get(one), look, ...others.map((ground) => painted.get(ground))].join('\n');
      if (!window.looked.has(whole)) window.looked.set(whole, one);
    }
    return [...window.looked.keys()];
  });
}
