import { Guarded } from "../../roles/Guarded";
import { navigate } from "../../router/router";
import { Icon } from "../../ui/Icon";

/** The way out of a page that is empty because no agent has worked yet. */
export function SpawnFirst() {
  return (
    <Guarded
      look="solid"
      can="agent:create:own"
      cli="godel agent spawn"
      onClick={() => navigate("/agents?spawn=1")}
    >
      <Icon name="plus" size={14} />
      Spawn an agent
    </Guarded>
  );
}
