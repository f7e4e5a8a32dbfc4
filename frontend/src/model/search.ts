// Items by name: those that begin with the words first, then those that hold them; "#17" is vertex 17.
import { labelOf, nameOf, type View } from "./data.ts";

export interface Found {
  view: number;
  vertex: number;
}

export function searchItems(views: readonly View[], text: string, most: number): Found[] {
  const wanted = text.trim().toLocaleLowerCase();
  if (wanted === "") return [];
  const number = /^#(\d{1,9})$/.exec(wanted);
  if (number) return views.filter((view) => Number(number[1]) < view.n).map((view) => ({ view: view.index, vertex: Number(number[1]) }));
  const first: Found[] = [];
  const later: Found[] = [];
  for (const view of views)
    for (let vertex = 0; vertex < view.n && first.length < most; vertex++) {
      const at = nameOf(view, vertex).toLocaleLowerCase().indexOf(wanted);
      if (at === 0) first.push({ view: view.index, vertex });
      else if (later.length < most && (at > 0 || labelOf(view, vertex)?.toLocaleLowerCase().startsWith(wanted)))
        later.push({ view: view.index, vertex });
    }
  return [...first, ...later].slice(0, most);
}
