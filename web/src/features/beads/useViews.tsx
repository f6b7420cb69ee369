import { setParams, useParams } from "../../router/router";
import { Menu, type MenuItem } from "../../ui/Menu";
import { useStored } from "../../ui/useStored";

/** What makes a view: its query, shape, groups and sorting, as the address holds them. */
const FIELDS = ["q", "view", "by", "group", "sort"] as const;
type View = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

const BUILT_IN: readonly (readonly [string, View])[] = [
  ["Everything", {}],
  ["Ready to begin", { q: "status:open blocked:no agent:none" }],
  ["Mine", { q: "agent:me -status:done" }],
  ["Blocked", { q: "blocked:yes" }],
  ["Not touched for a week", { q: "-status:done updated:>1w", sort: "updated" }],
];

/** Views by name: a few that everybody needs, and those that this browser remembers. */
export function useViews() {
  const [own, setOwn] = useStored<readonly View[]>("beads.views", []);
  const params = useParams();
  const present: View = Object.fromEntries(
    FIELDS.flatMap((name) => {
      const value = params.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  const isPresent = (view: View) => FIELDS.every((name) => view[name] === present[name]);
  const show = (view: View) =>
    setParams(Object.fromEntries(FIELDS.map((name) => [name, view[name]])), { replace: false });
  const known = own.find(isPresent);
  const keep: MenuItem = known
    ? {
        id: "forget",
        title: "Forget this view",
        icon: "trash",
        run: () => setOwn(own.filter((view) => view !== known)),
      }
    : {
        id: "keep",
        title: "Remember this view",
        icon: "plus",
        refused: BUILT_IN.some(([, view]) => isPresent(view)) ? "It is one of these." : undefined,
        run: () => setOwn([...own, present]),
      };
  const lines: (readonly [string, View])[] = [
    ...BUILT_IN,
    ...own.map((view) => [nameOf(view), view] as const),
  ];
  return (
    <Menu
      label="Views"
      look="line"
      align="left"
      button="Views"
      items={[
        ...lines.map(([title, view]) => ({
          id: `view ${title}`,
          title,
          isChosen: isPresent(view),
          run: () => show(view),
        })),
        keep,
      ]}
    />
  );
}

function nameOf({ q, view, by, group, sort }: View): string {
  const words = [
    q,
    view,
    by && `by ${by}`,
    group && `grouped by ${group}`,
    sort && `sorted by ${sort}`,
  ];
  return words.filter(Boolean).join(", ");
}
