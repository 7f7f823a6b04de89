import Messages

/// Orders: made before the purchase, delivered by it.
extension Books {
    /// Decides an order request. Number and token were drawn by the asker, so a redelivery finds what it made.
    mutating func decide(_ order: OrderCase) -> OrderDecision {
        let request = order.request
        remember(request.identities, of: order.customer)
        if let found = orders[request.orderNumber] {
            let isSame =
                found.customer == order.customer && found.productID == request.productID
                && found.token == request.appAccountToken
            return isSame ? OrderDecision(answer: answer(found)) : OrderDecision(answer: refusal(.purchasePending))
        }
        let tokenKey = TokenKey(app: request.app, token: request.appAccountToken)
        // Drawn twice by chance: the asker draws again.
        guard tokens[tokenKey] == nil else { return OrderDecision(answer: refusal(.purchasePending)) }
        let catalog = catalog(of: request.app)
        guard !reaches(catalog.risk?.orders, order.customer) else {
            return OrderDecision(answer: refusal(.orderingRestricted))
        }
        guard catalog.productOnSale(request.productID) != nil else {
            return OrderDecision(answer: refusal(.unknownAppleProductID))
        }
        let lifetime = Amounts.product(catalog.orderExpiryHours, 3_600_000) ?? 0
        let new = Order(
            number: request.orderNumber, app: request.app, customer: order.customer, productID: request.productID,
            token: request.appAccountToken, expiresAt: now &+ lifetime, cause: order.cause)
        orders[new.number] = new
        tokens[tokenKey] = IssuedToken(customer: new.customer, orderNumber: new.number)
        changes.newOrders.append(new.number)
        let body = OrderCreated(
            customer: new.customer, orderNumber: new.number, productID: new.productID,
            appAccountToken: request.appAccountToken, expiresAt: new.expiresAt,
            userDigest: customers[new.customer]?.digest)
        return OrderDecision(
            answer: answer(new), announcements: [Announcement(body: .orderCreated(body), key: new.number.rawValue)])
    }

    /// Marks the order a purchase settles: by its delivery, or because it was refunded in full before. An order that was delivered by another purchase, or is for another product,
    /// is left as it is: the customer paid, so a sibling order stands for this purchase.
    mutating func settleOrder(
        _ number: OrderNumber, _ statement: VerifiedTransaction, _ owner: CustomerID, _ cause: MessageID
    ) -> OrderNumber? {
        guard var order = orders[number], order.customer == owner else { return nil }
        if order.deliveredBy == nil, order.productID == statement.productID {
            order.deliveredBy = statement.key
            orders[number] = order
            changes.deliveredOrders.insert(number)
            return number
        }
        let sibling = Order(
            number: siblingOrderNumber(statement, owner), app: order.app, customer: owner,
            productID: statement.productID, token: nil, expiresAt: now, cause: cause, deliveredBy: statement.key,
            siblingOf: number)
        guard orders[sibling.number] == nil else { return nil }
        orders[sibling.number] = sibling
        changes.newOrders.append(sibling.number)
        return sibling.number
    }

    private func answer(_ order: Order) -> OrderAnswered {
        OrderAnswered(
            code: nil, orderNumber: order.number, productID: order.productID, appAccountToken: order.token)
    }

    private func refusal(_ code: AnswerCode) -> OrderAnswered {
        OrderAnswered(code: code, orderNumber: nil, productID: nil, appAccountToken: nil)
    }
}
