import { useQuery } from "@tanstack/react-query";
import type { Schedule } from "../../api/types";
import { confirm } from "../../change/confirm";
import { Guarded } from "../../roles/Guarded";
import { setParams } from "../../router/router";
import { Empty } from "../../ui/Empty";
import { shellWord } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { Menu } from "../../ui/Menu";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { Line, Lines } from "../settings/Section";
import styles from "./QueuePage.module.css";
import { queueQueries, useDeleteSchedule, usePauseSchedule } from "./queries";

/** What makes a task again and again. */
export function ScheduleList() {
  const query = useQuery(queueQueries.schedules);
  return (
    <div className={styles.list}>
      <div className={styles.stack}>
        <Loaded query={query} what="The schedules" skeleton={<SkeletonRows rows={3} height={54} />}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty
                icon="clock"
                why="There is no schedule yet. One makes a task each time its hour comes."
                action={
                  <Guarded can="task:create:team" onClick={() => setParams({ new: "schedule" })}>
                    New schedule
                  </Guarded>
                }
                cli="godel schedule create nightly --cron '0 3 * * *' 'build everything'"
              />
            ) : (
              <Lines label="Schedules">
                {items.map((schedule) => (
                  <ScheduleLine key={schedule.id} schedule={schedule} />
                ))}
              </Lines>
            )
          }
        </Loaded>
      </div>
    </div>
  );
}

function ScheduleLine({ schedule }: { schedule: Schedule }) {
  const pause = usePauseSchedule();
  const erase = useDeleteSchedule();
  const { name, paused, nextAt, lastAt } = schedule;
  return (
    <Line
      id={name}
      title={name}
      note={
        <>
          <code>{schedule.cron}</code> in {schedule.timezone}: {schedule.title}, pool{" "}
          {schedule.pool}
          {lastAt && (
            <>
              , last <Time at={lastAt} />
            </>
          )}
        </>
      }
      state={
        paused ? (
          <Badge tone="warn" icon="pause">
            paused
          </Badge>
        ) : (
          nextAt && (
            <Badge icon="clock">
              next <Time at={nextAt} />
            </Badge>
          )
        )
      }
      acts={
        <Menu
          label={`Do something with the schedule ${name}`}
          size="small"
          items={[
            {
              id: "pause",
              title: paused ? "Resume" : "Pause",
              icon: paused ? "play" : "pause",
              can: "task:update:team",
              cli: `godel schedule ${paused ? "resume" : "pause"} ${shellWord(name)}`,
              run: () => pause.mutate(schedule),
            },
            {
              id: "delete",
              title: "Delete",
              icon: "trash",
              can: "task:delete:team",
              destructive: true,
              cli: `godel schedule delete ${shellWord(name)}`,
              run: async () => {
                const isSure = await confirm({
                  title: `Delete ${name}?`,
                  body: "It makes nothing any more. The tasks that it made stay.",
                  act: "Delete it",
                  cli: `godel schedule delete ${shellWord(name)}`,
                });
                if (isSure) erase.mutate(schedule);
              },
            },
          ]}
        />
      }
    />
  );
}
