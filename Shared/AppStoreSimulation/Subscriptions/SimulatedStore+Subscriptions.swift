public import JSON

/// Auto-renewable subscriptions. Periods pass faster by the store's acceleration; every change tells what Apple tells.
extension SimulatedStore {
    private static let millisecondsPerDay: Int64 = 86_400_000
    private static let type = "Auto-Renewable Subscription"

    /// Subscribes. Tells SUBSCRIBED, INITIAL_BUY.
    public mutating func subscribe(_ request: SubscriptionRequest) throws(StoreError) -> JSONObject {
        let id = nextTransactionID()
        let date = nextDate(after: 0)
        let period = max(1, request.periodSeconds * 1_000 / acceleration)
        let subscription = SimulatedSubscription(
            originalTransactionID: id, environment: request.environment, bundleID: request.bundleID,
            appleAccount: request.appleAccount, groupID: request.groupID,
            appAccountToken: request.appAccountToken?.lowercased(), period: period,
            renewsItself: request.renewsItself, startDate: date, productID: request.productID,
            nextProductID: request.productID, lastTransactionID: id, expiresDate: date + period)
        let record = self.period(of: subscription, id: id, date: date, reason: "PURCHASE")
        try books.save(record)
        try books.save(subscription)
        try notify("SUBSCRIBED", "INITIAL_BUY", about: record, request.notification)
        return try answer(subscription, record)
    }

    /// Changes a subscription and tells it.
    public mutating func change(
        _ originalTransactionID: String, environment: String, _ action: SubscriptionAction,
        notification plan: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> JSONObject {
        guard var subscription = books.subscription(originalTransactionID, environment),
            var record = books.record(subscription.lastTransactionID, environment)
        else { throw .unknownTransaction }
        let (type, subtype) = try apply(action, to: &subscription, &record)
        try books.save(record)
        try books.save(subscription)
        try notify(type, subtype, about: record, plan)
        return try answer(subscription, record)
    }

    /// The state of a subscription, with its newest transaction and renewal info.
    public mutating func subscription(
        _ originalTransactionID: String, environment: String
    ) throws(StoreError) -> JSONObject {
        guard let subscription = books.subscription(originalTransactionID, environment),
            let record = books.record(subscription.lastTransactionID, environment)
        else { throw .unknownTransaction }
        return try answer(subscription, record)
    }

    /// Renews or ends what renews by itself and whose period is over. Called again and again by the store's thread.
    public mutating func renewWhatIsDue() throws(StoreError) {
        let date = nextDate(after: 0)
        for subscription in books.subscriptions.values
        where subscription.renewsItself && subscription.status == .active && subscription.expiresDate <= date {
            _ = try change(
                subscription.originalTransactionID, environment: subscription.environment,
                subscription.isRenewing ? .renew : .expire(reason: "VOLUNTARY"))
        }
    }

    // MARK: - Changes

    /// What becomes of both, and what it is called. Those that begin a period replace the record by a new one.
    private mutating func apply(
        _ action: SubscriptionAction, to subscription: inout SimulatedSubscription, _ record: inout StoreRecord
    ) throws(StoreError) -> (String, String?) {
        switch action {
        case .renew:
            try begin(&subscription, &record, reason: "RENEWAL")
            return ("DID_RENEW", nil)
        case .recover:
            try begin(&subscription, &record, reason: "RENEWAL")
            return ("DID_RENEW", "BILLING_RECOVERY")
        case .resubscribe:
            try begin(&subscription, &record, reason: "PURCHASE")
            subscription.startDate = record.payload["purchaseDate"]?.intValue ?? subscription.startDate
            return ("SUBSCRIBED", "RESUBSCRIBE")
        case .upgrade(let product):
            try upgrade(&subscription, &record, to: product)
            return ("DID_CHANGE_RENEWAL_PREF", "UPGRADE")
        case .redeemOffer(let identifier):
            try begin(&subscription, &record, reason: "PURCHASE")
            // 3: an offer code.
            record.payload.set("offerType", 3)
            record.payload.set("offerIdentifier", .string(identifier))
            return ("OFFER_REDEEMED", nil)
        case .extend(let days):
            subscription.expiresDate += days * Self.millisecondsPerDay / acceleration
            record.payload.set("expiresDate", .integer(subscription.expiresDate))
            record.payload.set("signedDate", .integer(nextDate(after: record.payload["signedDate"]?.intValue ?? 0)))
            return ("RENEWAL_EXTENDED", nil)
        case .failBilling, .endGrace, .downgrade, .keepProduct, .cancel, .enable, .expire, .raisePrice:
            return note(action, &subscription)
        }
    }

    /// Changes that leave the transaction as it is.
    private mutating func note(
        _ action: SubscriptionAction, _ subscription: inout SimulatedSubscription
    ) -> (String, String?) {
        switch action {
        case .failBilling(let seconds?):
            subscription.status = .gracePeriod
            subscription.gracePeriodExpiresDate =
                max(subscription.expiresDate, nextDate(after: 0)) + seconds * 1_000 / acceleration
            return ("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
        case .failBilling(nil):
            subscription.status = .billingRetry
            return ("DID_FAIL_TO_RENEW", nil)
        case .endGrace:
            subscription.status = .billingRetry
            return ("GRACE_PERIOD_EXPIRED", nil)
        case .downgrade(let product):
            subscription.nextProductID = product
            return ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE")
        case .keepProduct:
            subscription.nextProductID = subscription.productID
            return ("DID_CHANGE_RENEWAL_PREF", nil)
        case .cancel:
            subscription.isRenewing = false
            return ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        case .enable:
            subscription.isRenewing = true
            return ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")
        case .raisePrice(let isAccepted):
            subscription.priceIncreaseStatus = isAccepted ? 1 : 0
            return ("PRICE_INCREASE", isAccepted ? "ACCEPTED" : "PENDING")
        case .expire(let reason):
            subscription.status = .expired
            subscription.isRenewing = false
            subscription.gracePeriodExpiresDate = nil
            // 5: another reason.
            subscription.expirationIntent = Int64(reason.flatMap { SimulatedSubscription.intents[$0] } ?? 5)
            return ("EXPIRED", reason)
        default: return ("", nil)
        }
    }

    /// A new period: from the end of the last one, or from now if that is over.
    private mutating func begin(
        _ subscription: inout SimulatedSubscription, _ record: inout StoreRecord, reason: String,
        isAtOnce: Bool = false
    ) throws(StoreError) {
        let date = nextDate(after: 0)
        subscription.productID = subscription.nextProductID
        subscription.expiresDate = (isAtOnce ? date : max(subscription.expiresDate, date)) + subscription.period
        subscription.status = .active
        subscription.isRenewing = true
        subscription.gracePeriodExpiresDate = nil
        subscription.expirationIntent = nil
        subscription.lastTransactionID = nextTransactionID()
        record = period(of: subscription, id: subscription.lastTransactionID, date: date, reason: reason)
    }

    /// The better product begins at once. Apple refunds what is left of the old period, which is no refund to act on:
    /// the old transaction says `isUpgraded`.
    private mutating func upgrade(
        _ subscription: inout SimulatedSubscription, _ record: inout StoreRecord, to product: String
    ) throws(StoreError) {
        var old = record
        old.payload.set("isUpgraded", true)
        old.payload.set("signedDate", .integer(nextDate(after: old.payload["signedDate"]?.intValue ?? 0)))
        try books.save(old)
        subscription.nextProductID = product
        try begin(&subscription, &record, reason: "PURCHASE", isAtOnce: true)
    }

    private func period(
        of subscription: SimulatedSubscription, id: String, date: Int64, reason: String
    ) -> StoreRecord {
        var transaction = SimulatedTransaction(
            transactionID: id, bundleID: subscription.bundleID, productID: subscription.productID, purchaseDate: date,
            type: Self.type, environment: subscription.environment, appAccountToken: subscription.appAccountToken)
        transaction.originalTransactionID = subscription.originalTransactionID
        transaction.expiresDate = subscription.expiresDate
        transaction.subscriptionGroupIdentifier = subscription.groupID
        // One for each period, and never a transaction's id.
        transaction.webOrderLineItemID = "2" + id
        transaction.transactionReason = reason
        transaction.price = 9_990
        transaction.appTransactionID = Self.appTransactionID(
            of: subscription.appleAccount, in: subscription.bundleID)
        transaction.overrides = ["originalPurchaseDate": .integer(subscription.startDate)]
        return StoreRecord(
            transactionID: id, environment: subscription.environment, appleAccount: subscription.appleAccount,
            payload: transaction.json, isFinished: false)
    }

    private mutating func answer(
        _ subscription: SimulatedSubscription, _ record: StoreRecord
    ) throws(StoreError) -> JSONObject {
        var object = subscription.json
        object.set("transaction", .object(try signed(record).json))
        object.set(
            "signedRenewalInfo", .string(try sign(subscription.renewalInfo(signedDate: nextDate(after: 0)))))
        return object
    }
}
