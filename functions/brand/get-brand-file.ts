import * as routes from "../../shared/api/routes/brand.ts";
import { brandFile } from "../../shared/notices/brand/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getBrandFile, async ({ params }) => brandFile(params.file));
