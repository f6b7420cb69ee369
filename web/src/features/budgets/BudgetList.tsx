import { useQuery } from "@tanstack/react-query";
import type { Budget } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { useParam } from "../../router/router";
import { Empty } from "../../ui/Empty";
import { money, shellWord, shortId } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { Menu } from "../../ui/Menu";
import { Meter } from "../../ui/Meter";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { useTitles } from "../costs/useSpend";
import { BudgetDrawer } from "./BudgetDrawer";
import styles from "./BudgetList.module.css";
import {
  inOrder,
  isUsedUp,
  marksOf,
  PERIOD_TITLES,
  type Period,
  scopeParts,
  stopsAt,
  tellStop,
} from "./budgets";
import { budgetsQuery, useRemoveBudget } from "./queries";

/** All limits, and the form for one; the address says which is open. */
export function BudgetList() {
  const query = useQuery(budgetsQuery);
  const [open, setOpen] = useParam("budget");
  const edited = query.data?.items.find(({ id }) => id === open);
  const create = (
    <Guarded look="solid" can="budget:update:team" onClick={() => setOpen("new")}>
      Set a budget
    </Guarded>
  );
  return (
    <section className={styles.part} aria-label="Budgets">
      <Loaded query={query} what="The budgets" skeleton={<SkeletonRows rows={3} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              icon="costs"
              why="There is no budget yet, so nothing stops what would cost too much."
              action={create}
              cli="godel budget set tenant 200/month"
            />
          ) : (
            <>
              <div className={styles.acts}>{create}</div>
              <ul className={styles.list}>
                {inOrder(items).map((budget) => (
                  <Line key={budget.id} budget={budget} onEdit={() => setOpen(budget.id)} />
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
      {(open === "new" || edited) && (
        <BudgetDrawer
          key={open}
          budget={open === "new" ? undefined : edited}
          onClose={() => setOpen(undefined)}
        />
      )}
    </section>
  );
}

function Line({ budget, onEdit }: { budget: Budget; onEdit: () => void }) {
  const remove = useRemoveBudget();
  const title = useScopeTitle()(budget.scope);
  const titles = useTitles();
  const { capMicros, spentMicros, heldMicros, endsAt } = budget;
  const text = `${money(spentMicros)} of ${money(capMicros)}`;
  return (
    <li className={styles.line} data-budget={budget.scope}>
      <div>
        <p className={styles.title}>{title}</p>
        <p className={styles.note}>{PERIOD_TITLES[budget.period as Period] ?? budget.period}</p>
      </div>
      <div className={styles.used}>
        <p className="tabular">
          {text} <BudgetState budget={budget} />
        </p>
        <Meter label={`Budget of ${title}`} value={spentMicros} max={capMicros} text={text} />
        <p className={styles.note}>
          {heldMicros > 0 && `${money(heldMicros)} held back, `}
          {marksOf(budget, (id) => shortId(titles("user", id)))}
          {endsAt && (
            <>
              , begins anew <Time at={endsAt} />
            </>
          )}
        </p>
      </div>
      <Menu
        label={`Do something with the budget of ${title}`}
        size="small"
        items={[
          { id: "edit", title: "Change", icon: "edit", can: "budget:update:team", run: onEdit },
          {
            id: "remove",
            title: "Remove",
            icon: "trash",
            can: "budget:delete:team",
            destructive: true,
            cli: `godel budget delete ${shellWord(budget.scope)}`,
            run: () => remove.mutate(budget),
          },
        ]}
      />
    </li>
  );
}

function BudgetState({ budget }: { budget: Budget }) {
  const refusedFrom = stopsAt(budget);
  if (isUsedUp(budget)) {
    return (
      <Badge tone="bad" icon="stop">
        Used up
      </Badge>
    );
  }
  if (budget.spentMicros >= budget.capMicros) {
    return (
      <Badge tone="warn" icon="alert" title={tellStop(budget)}>
        {refusedFrom === undefined ? "Passed, only tells" : "In its grace"}
      </Badge>
    );
  }
  if (budget.spentMicros * 100 >= budget.capMicros * budget.warnPercent) {
    return (
      <Badge tone="warn" icon="alert">
        Near the limit
      </Badge>
    );
  }
  return null;
}

/** What people call the scope of a budget. */
export function useScopeTitle(): (scope: string) => string {
  const titles = useTitles();
  return (scope) => {
    const { kind, name } = scopeParts(scope);
    if (kind === "tenant") return "Everything";
    if (kind === "token") return `Token ${name}`;
    return `${kind[0]?.toUpperCase()}${kind.slice(1)} ${titles(kind, name)}`;
  };
}
