/** A number as people read it: four digits, and powers of ten where it is very large or small. */
export function formatNumber(x: number | null | undefined, digits = 4): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3)
    return minus(
      x
        .toExponential(digits - 1)
        .replace(/\.?0+e/, "e")
        .replace("e+", "e"),
    );
  return minus(`${Number(x.toPrecision(digits))}`);
}

const minus = (text: string): string => text.replaceAll("-", "−");

export const formatCount = (n: number): string => n.toLocaleString("en-US");

/** For places with little room; the whole text belongs in a title. */
export const shorten = (text: string, most: number): string => {
  const points = Array.from(text.length > 4 * most ? text.slice(0, 4 * most) : text);
  return points.length > most ? `${points.slice(0, most - 1).join("")}…` : text;
};
