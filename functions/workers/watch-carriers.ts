import { watchCarriers } from "../../shared/figures/deliveries/watch.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";

export const handler = scheduled("carriers.watched", watchCarriers);
