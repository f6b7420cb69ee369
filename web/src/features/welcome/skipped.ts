import { useStored } from "../../ui/useStored";

/** Whether this person does not want to be led; the setup is still there under its address. */
export const useSkipped = () => useStored("welcome.skipped", false);
