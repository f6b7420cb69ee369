import { createContext, type ReactNode, use, useEffect, useMemo, useRef } from "react";
import type { Bead } from "../../api/types";
import { Menu, type MenuItem } from "../../ui/Menu";
import { Money } from "../../ui/Money";
import { ShortId } from "../../ui/ShortId";
import { Badge } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { AgentMark, LockMark, PriorityMark, StatusMark, TypeMark } from "./BeadMarks";
import styles from "./BeadTable.module.css";
import type { BeadGraph } from "./graph";
import { TitleField } from "./TitleField";
import type { useBeadActs } from "./useBeadActs";

type Acts = ReturnType<typeof useBeadActs> & { startItem: (bead: Bead) => MenuItem };

/** What cells show besides their bead. It changes often and rows do not, so it is not given to them. */
interface Facts {
  graph: BeadGraph;
  costs: ReadonlyMap<string, number> | undefined;
}

/** What is done in the table; it changes seldom, and facts must not draw it again. */
interface Deeds {
  editing: string | undefined;
  setEditing: (id: string | undefined) => void;
  /** What can be done; asked for when a menu is opened, so that no row depends on it. */
  actsNow: () => Acts;
}

const FactsAround = createContext<Facts | undefined>(undefined);
const DeedsAround = createContext<Deeds | undefined>(undefined);

type AroundCellsProps = Facts & Omit<Deeds, "actsNow"> & { acts: Acts; children: ReactNode };

/** Stands around a table whose cells are `BeadCell`. */
export function AroundCells(props: AroundCellsProps) {
  const { graph, costs, acts, editing, setEditing } = props;
  const latest = useRef(acts);
  useEffect(() => {
    latest.current = acts;
  });
  const facts = useMemo(() => ({ graph, costs }), [graph, costs]);
  const deeds = useMemo(
    () => ({ editing, setEditing, actsNow: () => latest.current }),
    [editing, setEditing],
  );
  return (
    <FactsAround value={facts}>
      <DeedsAround value={deeds}>{props.children}</DeedsAround>
    </FactsAround>
  );
}

function useInside<T>(context: React.Context<T | undefined>): T {
  const value = use(context);
  if (value === undefined) throw new Error("there is no table around this cell");
  return value;
}

interface CellProps {
  bead: Bead;
}

const CELLS: Readonly<Record<string, (props: CellProps) => ReactNode>> = {
  id: ({ bead }) => <ShortId id={bead.id} isWhole />,
  title: Title,
  status: (props) => <MenuCell {...props} name="status" mark={<StatusMark {...props} />} />,
  priority: (props) => <MenuCell {...props} name="priority" mark={<PriorityMark {...props} />} />,
  type: ({ bead }) => <MenuCell bead={bead} name="type" mark={<TypeMark type={bead.type} />} />,
  agent: ({ bead }) => (
    <MenuCell bead={bead} name="agent" mark={<AgentMark agent={bead.agent} />} />
  ),
  waits: Waits,
  labels: ({ bead }) => bead.labels.map((label) => <Badge key={label}>{label}</Badge>),
  cost: Cost,
  updated: ({ bead }) => <Time at={bead.updatedAt} />,
  created: ({ bead }) => <Time at={bead.createdAt} />,
};

/** What is in a cell; most can be changed right there. */
export function BeadCell({ column, bead }: CellProps & { column: string }) {
  const Cell = CELLS[column];
  return Cell && <Cell bead={bead} />;
}

function Title({ bead }: CellProps) {
  const { editing, setEditing } = useInside(DeedsAround);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key for it is E
    <div className={styles.title} onDoubleClick={() => setEditing(bead.id)} data-title={bead.id}>
      <TitleField
        bead={bead}
        isSmall
        isEditing={editing === bead.id}
        onEditing={(is) => setEditing(is ? bead.id : undefined)}
      />
    </div>
  );
}

function Waits({ bead }: CellProps) {
  const { graph } = useInside(FactsAround);
  return bead.status !== "done" && <LockMark holds={graph.holdsOf(bead)} isShort />;
}

function Cost({ bead }: CellProps) {
  const { costs } = useInside(FactsAround);
  return costs && <Money micros={costs.get(bead.id) ?? 0} />;
}

interface MenuCellProps extends CellProps {
  name: "status" | "priority" | "type" | "agent";
  mark: ReactNode;
}

/** A cell that is a button; what it says stands below the head of the column. */
function MenuCell({ bead, name, mark }: MenuCellProps) {
  const { actsNow } = useInside(DeedsAround);
  const items = () => {
    const { startItem, ...acts } = actsNow();
    const choices = acts[`${name}Items`]([bead]);
    // Who is looked for among the agents may as well be a new one.
    return name === "agent" ? [...choices, startItem(bead)] : choices;
  };
  const label = `${LABELS[name]} of ${bead.id}: ${bead[name] ?? "nobody"}`;
  return (
    <Menu
      size="small"
      look="quiet"
      align="left"
      className={styles.menu}
      label={label}
      button={mark}
      items={items}
    />
  );
}

const LABELS = { status: "Status", priority: "Priority", type: "Type", agent: "Agent" } as const;
