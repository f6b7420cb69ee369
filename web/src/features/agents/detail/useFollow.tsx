import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/Icon";
import styles from "./useFollow.module.css";

/** So near to its end a list counts as followed. */
const NEAR_PX = 24;

interface Follow {
  box: RefObject<HTMLDivElement | null>;
  onScroll: () => void;
  isFollowing: boolean;
  toEnd: () => void;
  /** Stays where it is, whatever comes. */
  stay: () => void;
  /** The way back to the end, while somebody reads further up. */
  Jump: () => React.ReactNode;
}

/** Stays at the end of what grows, until somebody scrolls up. */
export function useFollow(length: number): Follow {
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: more lines are the reason to scroll
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [length, isFollowing]);
  const onScroll = () => {
    const { current } = box;
    if (!current) return;
    setFollowing(current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_PX);
  };
  const toEnd = () => setFollowing(true);
  const stay = () => setFollowing(false);
  const Jump = () =>
    isFollowing ? null : (
      <div className={styles.jump}>
        <Button size="small" onClick={toEnd}>
          <Icon name="down" size={14} />
          Follow
        </Button>
      </div>
    );
  return { box, onScroll, isFollowing, toEnd, stay, Jump };
}
