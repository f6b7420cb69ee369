/** A colour: one of 256 by its number, or any as `0xRRGGBB` above them. */
export type Colour = number;

/** How a character looks. Styles are never changed, so equal neighbours are the same object. */
export interface Style {
  fg?: Colour;
  bg?: Colour;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  strike?: true;
  inverse?: true;
  hidden?: true;
}

export const PLAIN: Style = {};

/** Colours behind this are `0xRRGGBB`. */
const RGB = 0x1000000;
export const rgb = (red: number, green: number, blue: number): Colour =>
  RGB + ((red & 255) << 16) + ((green & 255) << 8) + (blue & 255);

const FLAGS = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  8: "hidden",
  9: "strike",
} as const;
const ENDS: Record<number, readonly (keyof Style)[]> = {
  21: ["bold"],
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  28: ["hidden"],
  29: ["strike"],
  39: ["fg"],
  49: ["bg"],
};

/** What `ESC [ .. m` makes of a style. */
export function styled(before: Style, params: readonly number[]): Style {
  if (params.length === 0) return PLAIN;
  let style: Style = { ...before };
  for (let at = 0; at < params.length; at += 1) {
    const code = Math.max(0, params[at] ?? 0);
    const flag = FLAGS[code as keyof typeof FLAGS];
    if (code === 0) style = {};
    else if (flag) style[flag] = true;
    else if (ENDS[code]) for (const name of ENDS[code]) delete style[name];
    else if (code === 38 || code === 48) {
      const { colour, used } = extended(params.slice(at + 1));
      at += used;
      if (colour !== undefined) style[code === 38 ? "fg" : "bg"] = colour;
    } else if (code >= 30 && code <= 37) style.fg = code - 30;
    else if (code >= 40 && code <= 47) style.bg = code - 40;
    else if (code >= 90 && code <= 97) style.fg = code - 82;
    else if (code >= 100 && code <= 107) style.bg = code - 92;
  }
  return Object.keys(style).length === 0 ? PLAIN : style;
}

/** `5;n` or `2;r;g;b` behind 38 and 48. */
function extended(rest: readonly number[]): { colour?: Colour; used: number } {
  const part = (at: number) => Math.min(255, Math.max(0, rest[at] ?? 0));
  if (rest[0] === 5) return { colour: part(1), used: 2 };
  if (rest[0] === 2) {
    // With colons an empty name of a colour space may stand before the three.
    const from = rest[1] === -1 ? 2 : 1;
    return { colour: rgb(part(from), part(from + 1), part(from + 2)), used: from + 3 };
  }
  return { used: rest.length };
}

type Light = readonly [red: number, green: number, blue: number];

/** The screen is dark in both themes, as programs expect; all sixteen can be read on it. */
const SIXTEEN = [
  0x8d8c87, 0xff8f86, 0x4fc78e, 0xe6b653, 0x93aeff, 0xcf9cf0, 0x5cc8da, 0xd6d5d1, 0xa9a8a3,
  0xffb0a9, 0x7fdcb0, 0xf2d080, 0xb8caff, 0xe0c0f7, 0x8fdcea, 0xffffff,
] as const;
/** Behind letters black is black. */
const BLACK = 0x000000;
const TEXT = 0xeeedea;
const GROUND = 0x101113;
/** What letters need to be read by everybody. */
const CONTRAST = 4.5;

/** The colours of letters and of what is behind them as CSS; nothing where they are the usual. */
export function coloursOf(style: Style): { color?: string; backgroundColor?: string } {
  const { fg, bg, inverse, dim } = style;
  if (fg === undefined && bg === undefined && !inverse && !dim) return {};
  const ownFg = fg === undefined ? light(dim ? 0xa9a8a3 : TEXT) : lightOf(fg, SIXTEEN[0]);
  const ownBg = bg === undefined ? light(GROUND) : lightOf(bg, BLACK);
  const [over, under] = inverse ? [ownBg, ownFg] : [ownFg, ownBg];
  return {
    color: css(readable(over, under)),
    ...((bg !== undefined || inverse) && { backgroundColor: css(under) }),
  };
}

function lightOf(colour: Colour, black: number): Light {
  if (colour >= RGB) return light(colour - RGB);
  if (colour === 0) return light(black);
  if (colour < 16) return light(SIXTEEN[colour] ?? TEXT);
  if (colour >= 232) {
    const grey = 8 + (colour - 232) * 10;
    return [grey, grey, grey];
  }
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = colour - 16;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}

function light(hex: number): Light {
  return [(hex >> 16) & 255, (hex >> 8) & 255, hex & 255];
}

function css([red, green, blue]: Light): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** Moves letters towards white or black until they can be read. */
function readable(over: Light, under: Light): Light {
  const goal = contrast(light(0xffffff), under) >= contrast(light(0), under) ? 255 : 0;
  let shown = over;
  for (let step = 1; step <= 10 && contrast(shown, under) < CONTRAST; step += 1) {
    const mixed = over.map((part) => Math.round(part + ((goal - part) * step) / 10));
    shown = [mixed[0] ?? 0, mixed[1] ?? 0, mixed[2] ?? 0];
  }
  return shown;
}

/** The contrast of two colours by the rules of WCAG. */
export function contrast(one: Light, other: Light): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: Light): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
