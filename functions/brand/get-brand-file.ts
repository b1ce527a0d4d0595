import { brandFile } from "../../shared/brand/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/brand.ts";

export const handler = publicEndpoint(routes.getBrandFile, async ({ params }) => brandFile(params.file));
