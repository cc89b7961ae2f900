/** The page that ends a login in the browser. */
export const CONNECTED_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Connected</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; min-height: 90vh; place-content: center; text-align: center; }
</style>
</head>
<body>
<h1>Connected</h1>
<p>Your key is saved on this computer. You can close this page.</p>
</body>
</html>
`;
