/// A thing that chaos does to the deployment.
enum Fault: String, CaseIterable, Sendable {
    /// `kill -9` of one process; its supervisor starts it again.
    case kill
    /// `kill -9` of every service at the same moment.
    case killAll = "kill-all"
    /// SIGSTOP of one service, SIGCONT after the length: it lives, its connections live, it does nothing.
    case freeze
    /// `kill -9` of the broker, started again after the length.
    case brokerKill = "broker-kill"
    /// The broker stops gracefully and is started again after the length.
    case brokerRestart = "broker-restart"
    /// The database shuts down "fast": sessions are ended, everything is flushed.
    case databaseFast = "database-fast"
    /// The database shuts down "immediately": it recovers at its next start.
    case databaseImmediate = "database-immediate"
    /// `kill -9` of the postmaster.
    case databaseKill = "database-kill"
    /// The broker's memory limit is far below what it uses: it blocks whoever publishes.
    case memoryAlarm = "memory-alarm"
    /// Connections of one service to the broker stay open and carry nothing; cut at the end.
    case halfOpenBroker = "half-open-broker"
    /// The same for its connections to the database.
    case halfOpenDatabase = "half-open-database"
    /// Everything sent to the database waits for 500 ms.
    case slowDatabase = "slow-database"
    /// Broker and database are killed; the broker is back first.
    case bothBrokerFirst = "both-broker-first"
    /// Broker and database are killed; the database is back first.
    case bothDatabaseFirst = "both-database-first"

    /// Everything but the single kills, which go on all the time.
    static let rounds = allCases.filter { $0 != .kill }

    /// Whether it takes the broker or the database away. Services must live through it without being restarted, so
    /// nothing else is killed meanwhile.
    var isOutage: Bool {
        switch self {
        case .brokerKill, .brokerRestart, .databaseFast, .databaseImmediate, .databaseKill, .bothBrokerFirst,
            .bothDatabaseFirst, .memoryAlarm:
            true
        default: false
        }
    }

    /// How long it lasts (ms). The long half-open times reach beyond what finds them out: 20 s of heartbeats for the
    /// broker, 5 s statement timeout and 10 s grace for the database. A short plan has no room for that.
    func lengths(isShort: Bool) -> ClosedRange<Int> {
        switch self {
        case .kill, .killAll: 0...0
        case .freeze: 2_000...4_000
        case .brokerKill, .brokerRestart, .databaseKill: 500...1_000
        case .databaseFast, .databaseImmediate: 500...1_500
        case .memoryAlarm: 2_000...3_000
        case .halfOpenBroker: isShort ? 2_000...3_000 : 15_000...21_000
        case .halfOpenDatabase: isShort ? 2_000...3_000 : 12_000...15_000
        case .slowDatabase: isShort ? 2_000...3_000 : 3_000...4_000
        case .bothBrokerFirst, .bothDatabaseFirst: 1_000...1_500
        }
    }

    /// What the plan allows for coming back (ms): a broker boots in 5 to 6 s, a database recovers in 1 to 3. If it
    /// takes longer everything after it happens later.
    var recovery: Int {
        switch self {
        case .kill: 0
        case .killAll: 3_000
        case .freeze, .slowDatabase: 500
        case .brokerKill, .brokerRestart: 8_000
        case .databaseFast, .databaseImmediate: 2_500
        case .databaseKill: 4_000
        case .memoryAlarm: 2_000
        case .halfOpenBroker, .halfOpenDatabase: 1_000
        case .bothBrokerFirst, .bothDatabaseFirst: 9_000
        }
    }
}
