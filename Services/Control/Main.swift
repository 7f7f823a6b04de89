@main
enum ControlMain {
    static func main() {}
}
