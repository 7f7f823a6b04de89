/// What did somebody buy under the order id of Apple's e-mail? Asked by an operator; Apple tells of Production only.
public struct AppleOrderRequested: Message {
    /// Routing key.
    public static var type: MessageType { .appleOrderRequested }
    /// As it stands in the e-mail, `MK5TTTVWJH`.
    public var orderID: String

    /// Composes the question.
    public init(orderID: String) { self.orderID = orderID }
}

/// What Apple says of an order id.
public struct AppleOrderAnswered: Message {
    /// A purchase of the order, verified.
    public struct Purchase: Codable, Sendable, Equatable {
        /// The app that its bundle id belongs to.
        public var app: AppID
        /// Production.
        public var environment: StoreEnvironment
        /// Apple's id.
        public var transactionID: TransactionID

        /// Composes it.
        public init(app: AppID, environment: StoreEnvironment, transactionID: TransactionID) {
            self.app = app
            self.environment = environment
            self.transactionID = transactionID
        }
    }

    /// An app for which Apple has not answered.
    public struct Problem: Codable, Sendable, Equatable {
        /// Which one.
        public var app: AppID
        /// The bundle id in whose name it was asked.
        public var bundleID: String
        /// A stable dotted code.
        public var code: String
        /// What is wrong, a sentence without payload.
        public var description: String

        /// Composes it.
        public init(app: AppID, bundleID: String, code: String, description: String) {
            self.app = app
            self.bundleID = bundleID
            self.code = code
            self.description = description
        }
    }

    /// Routing key of the type.
    public static var type: MessageType { .appleOrderAnswered }
    /// What was bought; empty: Apple knows no such order of the apps it has answered for.
    public var purchases: [Purchase]
    /// Apps and bundle ids for which Apple has answered.
    public var asked: Int64
    /// Those for which it has not.
    public var problems: [Problem]
    /// Transactions that Apple has shown and that could not be verified: believed by nobody.
    public var unverified: Int64

    /// Composes the answer.
    public init(purchases: [Purchase], asked: Int64, problems: [Problem], unverified: Int64) {
        self.purchases = purchases
        self.asked = asked
        self.problems = problems
        self.unverified = unverified
    }
}
