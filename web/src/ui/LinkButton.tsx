import type { ComponentProps } from "react";
import { Link } from "../router/Link";
import styles from "./Button.module.css";
import { classes } from "./classes";

/** A link that looks like the main button of a page: for what is done by going somewhere. */
export function LinkButton(props: Omit<ComponentProps<typeof Link>, "className">) {
  return <Link className={classes(styles.button, styles.link, styles.solid)} {...props} />;
}
