import TestSupport

/// What happens to the deployment and when: a pure function of seed, duration and the names of its processes, so that a
/// run can be repeated at the level of its schedule.
struct ChaosPlan: Equatable, Sendable {
    /// One fault.
    struct Entry: Equatable, Sendable {
        /// When it begins, in milliseconds from the start.
        let at: Int
        /// What.
        let fault: Fault
        /// To which process; `-` where the fault names it.
        let victim: String
        /// How long it lasts (ms).
        let length: Int

        /// When everything is expected to be back (ms).
        var until: Int { at + length + fault.recovery }
    }

    /// The processes there are.
    struct Cast: Equatable, Sendable {
        /// Services between a client and its balance; each has connections to the broker.
        let services: [String]
        /// Those with a database.
        let stores: [String]
        /// Everything that may be killed alone: the services and what stands in for Apple.
        var mortals: [String] { services + ["simulator"] }
    }

    /// Below this many seconds half-open connections are not left for as long as it takes to find them out.
    static let shortBelow = 110
    /// Nothing happens in the first moments (ms): the first purchases are on their way.
    private static let calm = 500

    /// What it was made from.
    let seed: UInt64
    /// How long faults go on.
    let seconds: Int
    /// By time.
    let entries: [Entry]

    /// The plan of a seed.
    init(seed: UInt64, seconds: Int, cast: Cast) {
        self.seed = seed
        self.seconds = seconds
        var random = SeededGenerator(seed: seed)
        let large = Self.rounds(seconds * 1_000, isShort: seconds < Self.shortBelow, cast, &random)
        let kills = Self.kills(seconds * 1_000, between: large, cast, &random)
        entries = (large + kills).sorted { ($0.at, $0.fault.rawValue) < ($1.at, $1.fault.rawValue) }
    }

    /// Every fault once in random order, again and again, as long as there is room.
    private static func rounds(
        _ end: Int, isShort: Bool, _ cast: Cast, _ random: inout SeededGenerator
    ) -> [Entry] {
        var entries: [Entry] = []
        var now = calm
        var hasRoom = true
        while hasRoom {
            hasRoom = false
            for fault in Fault.rounds.shuffled(using: &random) {
                let entry = Entry(
                    at: now, fault: fault, victim: victim(of: fault, cast, &random),
                    length: Int.random(in: fault.lengths(isShort: isShort), using: &random))
                guard entry.until <= end else { continue }
                entries.append(entry)
                now = entry.until
                hasRoom = true
            }
        }
        return entries
    }

    /// A kill every two seconds or so, of any process, wherever no outage is to be lived through without a restart.
    private static func kills(
        _ end: Int, between large: [Entry], _ cast: Cast, _ random: inout SeededGenerator
    ) -> [Entry] {
        var entries: [Entry] = []
        var now = 2 * calm
        while now < end {
            if let outage = large.first(where: { isOff(now, $0) }) {
                now = outage.until
                continue
            }
            // What is frozen or cut off shall be seen coming back by itself.
            let busy = large.filter { $0.at <= now && now < $0.until }.map(\.victim)
            let victims = cast.mortals.filter { !busy.contains($0) }
            if let victim = victims.randomElement(using: &random) {
                entries.append(Entry(at: now, fault: .kill, victim: victim, length: 0))
            }
            now += Int.random(in: 1_500...2_500, using: &random)
        }
        return entries
    }

    /// Whether a kill at `now` would be in the way of `entry`: a process that has just been killed is not ready when
    /// the outage begins.
    private static func isOff(_ now: Int, _ entry: Entry) -> Bool {
        (entry.fault.isOutage || entry.fault == .killAll) && entry.at - 1_000 <= now && now < entry.until
    }

    private static func victim(of fault: Fault, _ cast: Cast, _ random: inout SeededGenerator) -> String {
        switch fault {
        case .freeze, .halfOpenBroker: cast.services.randomElement(using: &random) ?? "-"
        case .halfOpenDatabase: cast.stores.randomElement(using: &random) ?? "-"
        default: "-"
        }
    }

    /// One line a fault: seconds, what, to whom, for how long.
    var text: String {
        entries.map { entry in
            let fault = entry.fault.rawValue.padded(to: 20)
            let length = entry.length > 0 ? "for \(Self.seconds(entry.length)) s" : ""
            return
                "\(Self.seconds(entry.at).padded(to: 8, left: true))  \(fault) \(entry.victim.padded(to: 14)) \(length)"
                .trimmedAtEnd
        }.joined(separator: "\n") + "\n"
    }

    /// Milliseconds as seconds with three decimals.
    static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds / 1_000).\(String(milliseconds % 1_000).padded(to: 3, left: true, with: "0"))"
    }
}

extension String {
    /// Filled up to a width.
    func padded(to width: Int, left: Bool = false, with character: Character = " ") -> String {
        let filling = String(repeating: character, count: max(0, width - count))
        return left ? filling + self : self + filling
    }

    /// Without spaces at its end.
    var trimmedAtEnd: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
