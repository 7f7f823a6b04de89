/// A schedule: a story, how lanes and broker behave in it, and what breaks when. A seed makes all of it.
struct Plan {
    let seed: UInt64
    var story: Story
    var faults: [Fault]
    let mutation: Mutation?
    /// Deliveries in hand at most.
    let prefetch: Int
    /// Steps a lane makes at most before another may.
    let burst: Int
    /// Lanes a queue.
    let lanes: Int
    /// Whether the broker delivers in another order.
    let reorders: Bool
    /// Whether verification may send a purchase through the retry ladder.
    let feederRetries: Bool

    init(seed: UInt64, mutation: Mutation? = nil) {
        var dice = Dice(seed: seed &* 0x9E6C_63D0_876A_9A47 &+ 1)
        self.seed = seed
        self.mutation = mutation
        story = Story(seed: dice.next())
        prefetch = [1, 4, 8, 16][dice.roll(4)]
        burst = [1, 3, 12, 40][dice.roll(4)]
        lanes = 1 + dice.roll(2)
        reorders = dice.chance(60)
        feederRetries = dice.chance(10)
        faults = []
        guard !dice.chance(15) else { return }
        for _ in 0..<dice.roll(7) { faults.append(Fault(&dice, within: 40 + story.events.count * 40)) }
        faults.sort { $0.turn < $1.turn }
    }
}

/// Something that breaks.
struct Fault {
    /// What.
    enum Kind: CaseIterable {
        /// A lane's process dies.
        case crash
        /// The same, and before the broker delivers again an operator removes what was handled.
        case crashAndPurge
        /// A lane's database connection breaks.
        case databaseLost
        /// The broker takes a lane's messages back; it does not know.
        case consumerLost
        /// A lane's publisher breaks.
        case publisherLost
        /// A lane is not scheduled for a while.
        case stall
        /// Nobody reaches the database for a while.
        case databaseAway
        /// Nobody reaches the broker for a while.
        case brokerAway
        /// Some messages are rejected.
        case rejections
        /// A binding is missing for a while.
        case bindingMissing
        /// Some answers are lost.
        case answersLost
        /// A message is in its queue twice.
        case duplicate
        /// A client asks again.
        case impatience
    }

    /// In what state of a lane.
    enum Moment: CaseIterable {
        case any, inTransaction, committing, committed, publishing, published, twoInHand
    }

    var kind: Kind
    var moment: Moment
    /// Not before this turn.
    var turn: Int
    /// For its own chance.
    var seed: UInt64

    /// What by chance alone would be too rare: a lost reply to COMMIT, and death right after it.
    private static let favourites: [(Kind, Moment)] = [
        (.databaseLost, .committing), (.databaseLost, .committing), (.crash, .committing), (.crash, .committed),
        (.crashAndPurge, .committed),
        (.crash, .publishing), (.consumerLost, .inTransaction), (.crash, .twoInHand),
    ]

    init(_ dice: inout Dice, within turns: Int) {
        kind = dice.pick(Kind.allCases)
        moment = dice.pick(Moment.allCases)
        if dice.chance(35) { (kind, moment) = dice.pick(Self.favourites) }
        turn = dice.roll(turns)
        seed = dice.next()
    }

    /// Whether a lane is where this is to happen.
    func fits(_ lane: SimulatedLane) -> Bool {
        let batch = lane.current ?? lane.told
        switch moment {
        case .any: return true
        case .inTransaction: return lane.current?.attempt != nil
        case .committing: return lane.current?.attempt?.phase == .committing
        case .committed: return batch.map { $0.committed != nil && $0.stage == 0 && $0.publishing == nil } ?? false
        case .publishing: return batch?.publishing.map { $0.index > 0 } ?? false
        case .published: return batch.map { $0.stage > 0 && $0.stage < 4 } ?? false
        case .twoInHand: return lane.told != nil && lane.current?.attempt != nil
        }
    }
}
