/** What a system's own supervisor is told about the program. */
export interface ServicePlan {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Variables that it gets besides those of the system. */
  readonly env: Readonly<Record<string, string>>;
  /** Where it runs. */
  readonly cwd: string;
  /** Seconds that a stop may take. */
  readonly stopSeconds: number;
  /** File for what it says, where the system keeps no log of its own. */
  readonly log: string;
}

/** A file of a supervisor, and the commands that make it take effect. */
export interface Unit {
  readonly path: string;
  readonly text: string;
  readonly install: readonly (readonly string[])[];
  readonly uninstall: readonly (readonly string[])[];
  /** A command that looks whether the file is valid, where there is one. */
  readonly check?: readonly string[];
}

/** A word of a systemd unit: quoted, with nothing that it expands (systemd.syntax(7)). */
const systemdWord = (word: string): string =>
  `"${word.replace(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;

/** A unit of the user's own systemd. */
export function systemdUnit(plan: ServicePlan, home: string): Unit {
  const path = `${home}/.config/systemd/user/svc.service`;
  const variables = Object.entries(plan.env)
    .map(([name, value]) =>
      `Environment=${systemdWord(`${name}=${value}`).replaceAll("$$", "$")}\n`
    );
  const text = `[Unit]
Description=svc, a private memory for AI agents
After=network-online.target

[Service]
Type=simple
ExecStart=${plan.command.map(systemdWord).join(" ")}
WorkingDirectory=${plan.cwd.replaceAll("%", "%%")}
${variables.join("")}Restart=on-failure
RestartSec=5
# Settings that cannot work stay wrong until somebody changes them.
RestartPreventExitStatus=78
TimeoutStopSec=${plan.stopSeconds}
# The launcher stops its processes in their order.
KillMode=mixed

[Install]
WantedBy=default.target
`;
  const systemctl = (...words: string[]) => ["systemctl", "--user", ...words];
  return {
    path,
    text,
    install: [systemctl("daemon-reload"), systemctl("enable", "--now", "svc.service")],
    uninstall: [systemctl("disable", "--now", "svc.service")],
    check: ["systemd-analyze", "verify", "--user", path],
  };
}

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** A property list of the user's own launchd (launchd.plist(5)). */
export function launchdUnit(plan: ServicePlan, home: string): Unit {
  const path = `${home}/Library/LaunchAgents/svc.plist`;
  const strings = (words: readonly string[]) =>
    words.map((word) => `    <string>${xml(word)}</string>\n`).join("");
  const variables = Object.entries(plan.env)
    .map(([name, value]) => `    <key>${xml(name)}</key>\n    <string>${xml(value)}</string>\n`);
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>svc</string>
  <key>ProgramArguments</key>
  <array>
${strings(plan.command)}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join("")}  </dict>
  <key>WorkingDirectory</key>
  <string>${xml(plan.cwd)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>${plan.stopSeconds}</integer>
  <key>StandardOutPath</key>
  <string>${xml(plan.log)}</string>
  <key>StandardErrorPath</key>
  <string>${xml(plan.log)}</string>
</dict>
</plist>
`;
  return {
    path,
    text,
    install: [["launchctl", "load", "-w", path]],
    uninstall: [["launchctl", "unload", "-w", path]],
    check: ["plutil", "-lint", path],
  };
}

/** A word of a command line, as programs on Windows take it apart. */
const windowsWord = (word: string): string =>
  /^[\w.:=\\/-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`;

/**
 * A task of Windows that runs while its user is signed in (schema of the Task Scheduler, 1.2). A task
 * has no variables of its own: a shell sets them.
 */
export function windowsUnit(plan: ServicePlan, home: string): Unit {
  const path = `${home}\\.svc\\svc-task.xml`;
  const sets = Object.entries(plan.env).map(([name, value]) => `set "${name}=${value}"&& `);
  const line = plan.command.map(windowsWord).join(" ");
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>cmd</Command>
      <Arguments>${xml(`/d /s /c "${sets.join("")}${line} >>"${plan.log}" 2>&1"`)}</Arguments>
      <WorkingDirectory>${xml(plan.cwd)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`;
  return {
    path,
    text,
    install: [
      ["schtasks", "/Create", "/TN", "svc", "/XML", path, "/F"],
      ["schtasks", "/Run", "/TN", "svc"],
    ],
    uninstall: [["schtasks", "/End", "/TN", "svc"], ["schtasks", "/Delete", "/TN", "svc", "/F"]],
  };
}

/** The file for a system, by the name that Deno has for it. */
export function unitFor(os: string, plan: ServicePlan, home: string): Unit {
  if (os === "windows") return windowsUnit(plan, home);
  return os === "darwin" ? launchdUnit(plan, home) : systemdUnit(plan, home);
}
