export function AppsPage() {
  return <h1>Apps</h1>;
}
