// The vertices with most heat. Heat that started at one vertex is a closeness to it: e^{-tL} is symmetric.

export interface Near {
  vertex: number;
  heat: number;
}

export function hottest(heat: ArrayLike<number>, count: number, without: ReadonlySet<number>): Near[] {
  const best: Near[] = [];
  for (let vertex = 0; vertex < heat.length; vertex++) {
    if (best.length === count && heat[vertex] <= best[count - 1].heat) continue;
    if (!(heat[vertex] > 0) || without.has(vertex)) continue;
    let at = best.length;
    while (at > 0 && best[at - 1].heat < heat[vertex]) at--;
    best.splice(at, 0, { vertex, heat: heat[vertex] });
    if (best.length > count) best.pop();
  }
  return best;
}
