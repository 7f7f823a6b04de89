import Messages

@testable import Granting

/// A message as the simulation carries it: read once, not as JSON at every hop.
struct Letter {
    /// What it says.
    enum Content {
        /// Not yet verified.
        case submitted(PurchaseVerified)
        case purchase(PurchaseVerified)
        case wallet(DecideWallet.Request)
        case command(RunCommands.Command)
        case notification(NotificationVerified)
    }

    var header: MessageHeader
    var content: Content
}

/// A message in a queue or in a lane's hands.
struct Copy {
    var letter: Letter
    /// How often it was delivered without being acknowledged.
    var failures = 0
    /// Its tag in the hands of a consumer.
    var tag = 0
    var isRedelivered: Bool { failures > 0 }
}

/// A model of the broker: queues that deliver at least once, give back what was not acknowledged, delay, and park.
struct Broker {
    /// The queues that lanes work on.
    enum Queue: Int, CaseIterable {
        case submitted, purchases, wallet, commands, notifications

        /// The real queue.
        var topology: Topology.Queue {
            switch self {
            case .submitted: Topology.verificationPurchases
            case .purchases: Topology.grantingPurchases
            case .wallet: Topology.grantingWallet
            case .commands: Topology.grantingCommands
            case .notifications: Topology.grantingNotifications
            }
        }
    }

    private var queues: [[Copy]] = Queue.allCases.map { _ in [] }
    /// On the retry ladder.
    private(set) var delayed: [(until: Int64, queue: Queue, copy: Copy)] = []
    /// Given up, by lanes or operators.
    private(set) var parked: [Copy] = []
    private var dice: Dice
    /// Whether deliveries come in another order than messages went in.
    let reorders: Bool

    init(seed: UInt64, reorders: Bool) {
        dice = Dice(seed: seed)
        self.reorders = reorders
    }

    /// How many wait in a queue.
    func depth(_ queue: Queue) -> Int { queues[queue.rawValue].count }

    /// Whether nothing waits anywhere.
    var isEmpty: Bool { delayed.isEmpty && queues.allSatisfy(\.isEmpty) }

    /// Whether a message waits in a queue.
    func holds(_ id: MessageID) -> Bool { queues.contains { $0.contains { $0.letter.header.id == id } } }

    /// Stores a message.
    mutating func store(_ letter: Letter, in queue: Queue) { insert(Copy(letter: letter), queue) }

    /// The next message for a consumer.
    mutating func deliver(_ queue: Queue) -> Copy? {
        queues[queue.rawValue].isEmpty ? nil : queues[queue.rawValue].removeFirst()
    }

    /// Takes back what a consumer held when it was lost. Beyond the limit messages are parked.
    mutating func takeBack(_ copies: [Copy], to queue: Queue) {
        for var copy in copies.reversed() {
            copy.failures += 1
            if copy.failures > Topology.deliveryLimit {
                parked.append(copy)
            } else if reorders {
                insert(copy, queue)
            } else {
                queues[queue.rawValue].insert(copy, at: 0)
            }
        }
    }

    /// Keeps a message for later.
    mutating func delay(_ letter: Letter, in queue: Queue, until: Int64) {
        delayed.append((until, queue, Copy(letter: letter)))
    }

    /// Returns to their queues what has waited long enough.
    mutating func release(now: Int64) {
        guard !delayed.isEmpty else { return }
        for entry in delayed where entry.until <= now { insert(entry.copy, entry.queue) }
        delayed.removeAll { $0.until <= now }
    }

    /// Sets a message aside.
    mutating func park(_ copy: Copy) { parked.append(copy) }

    /// An operator removes messages of which it is known that they were handled before.
    mutating func purge(_ queue: Queue, where wasHandled: (Copy) -> Bool) -> Int {
        let before = queues[queue.rawValue].count
        queues[queue.rawValue].removeAll(where: wasHandled)
        return before - queues[queue.rawValue].count
    }

    /// A second copy of some message in a queue.
    mutating func duplicate(_ queue: Queue) {
        guard !queues[queue.rawValue].isEmpty else { return }
        let copy = Copy(letter: dice.pick(queues[queue.rawValue]).letter)
        insert(copy, queue)
    }

    private mutating func insert(_ copy: Copy, _ queue: Queue) {
        let count = queues[queue.rawValue].count
        queues[queue.rawValue].insert(copy, at: reorders ? dice.roll(count + 1) : count)
    }
}
