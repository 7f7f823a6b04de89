import Testing

@testable import AMQP

@Suite struct FramePumpTests {
    private let deliver = Frame.method(.deliver(tag: 7, isRedelivered: true, exchange: "purser", routingKey: "k"))
    private let properties = MessageProperties(messageID: "m", headers: ["attempt": 3])

    /// Feeds all frames and collects the events.
    private func events(_ frames: [Frame]) throws -> [FramePump.Event] {
        var pump = FramePump()
        return try frames.compactMap { try pump.accept($0) }
    }

    private func delivery(_ body: [UInt8]) -> FramePump.Event {
        .delivery(
            Delivery(
                tag: 7, exchange: "purser", routingKey: "k", isRedelivered: true, properties: properties, body: body))
    }

    @Test func `method, header and body make a delivery`() throws {
        #expect(
            try events([deliver, .header(bodySize: 3, properties), .body([1, 2, 3])]) == [delivery([1, 2, 3])])
    }

    @Test func `an empty body needs no body frame`() throws {
        #expect(try events([deliver, .header(bodySize: 0, properties)]) == [delivery([])])
    }

    @Test func `a body may come in many frames`() throws {
        let frames: [Frame] = [
            deliver, .header(bodySize: 5, properties), .body([1, 2]), .body([]), .body([3, 4]), .body([5]),
        ]
        #expect(try events(frames) == [delivery([1, 2, 3, 4, 5])])
    }

    @Test func `an alarm may come amid the content`() throws {
        let frames: [Frame] = [
            deliver, .method(.blocked), .header(bodySize: 2, properties), .method(.unblocked), .body([1, 2]),
        ]
        #expect(try events(frames) == [.blocked, .unblocked, delivery([1, 2])])
    }

    @Test func `a returned message carries its id, and its confirm comes after`() throws {
        let frames: [Frame] = [
            .method(.returned(code: 312, text: "NO_ROUTE", exchange: "purser", routingKey: "k")),
            .header(bodySize: 1, properties), .body([9]), .method(.acknowledged(tag: 1, isMultiple: false)),
        ]
        #expect(
            try events(frames) == [
                .returned(.init(code: 312, text: "NO_ROUTE", exchange: "purser", routingKey: "k", messageID: "m")),
                .acknowledged(tag: 1, isMultiple: false),
            ])
    }

    @Test func `the channel may end amid the content, and a new one starts clean`() throws {
        let frames: [Frame] = [
            deliver, .method(.channelClose(code: 406, text: "x")), .method(.reply(.channelOpened)), deliver,
            .header(bodySize: 0, properties),
        ]
        #expect(
            try events(frames) == [.channelClose(code: 406, text: "x"), .reply(.channelOpened), delivery([])])
    }

    @Test(arguments: [
        [Frame.body([1])],
        [.header(bodySize: 1, .init())],
        [.method(.deliver(tag: 1, isRedelivered: false, exchange: "", routingKey: "")), .body([1])],
        [
            .method(.deliver(tag: 1, isRedelivered: false, exchange: "", routingKey: "")),
            .method(.acknowledged(tag: 1, isMultiple: false)),
        ],
        [
            .method(.deliver(tag: 1, isRedelivered: false, exchange: "", routingKey: "")),
            .header(bodySize: 1, .init()), .header(bodySize: 1, .init()),
        ],
        [
            .method(.deliver(tag: 1, isRedelivered: false, exchange: "", routingKey: "")),
            .header(bodySize: 1, .init()), .body([1, 2]),
        ],
        [
            .method(.deliver(tag: 1, isRedelivered: false, exchange: "", routingKey: "")),
            .header(bodySize: FramePump.bodyLimit + 1, .init()),
        ],
        [.method(.other(number: 1))],
    ])
    func `frames out of place break the protocol`(_ frames: [Frame]) {
        #expect {
            try events(frames)
        } throws: {
            ($0 as? AMQPError)?.code == "amqp.protocol_violation"
        }
    }
}
